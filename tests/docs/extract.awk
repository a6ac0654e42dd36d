# The command lines of a document: "LINE<tab>KIND<tab>COMMAND" with KIND heed, known (a plain program that is run as well), other.
# They stand in code, which is fenced or begins with four blanks. The text that a command is given up to END is part of it, with a
# vertical tab for each end of a line.
/^```/ { fenced = !fenced; next }
!fenced && !/^    / { next }
{
  line = $0
  if (given) {
    sub(/^    /, "", line)
    command = command "\v" line
    if (line == "END") {
      given = 0
      print command
    }
    next
  }
  sub(/^ +/, "", line)
  prompt = sub(/^\$ /, "", line)
  if (joined != "") { line = joined line; prompt = joined_prompt }
  else start = FNR
  joined = ""
  if (line ~ /\\$/) { joined = substr(line, 1, length(line) - 1); joined_prompt = prompt; next }
  bare = line
  while (sub(/^[A-Z_]+=[^ ]* /, "", bare)) {}
  sub(/^build\/release\/heed\/heed /, "heed ", bare)
  sub(/^\$heed /, "heed ", bare)
  word = bare
  sub(/ .*/, "", word)
  if (bare ~ /^heed (--?)?[a-z]/ || bare ~ /^source <\(heed /) kind = "heed"
  else if (word ~ /^(ls|echo|cat|head|tail|cut|cmp|du|grep|sha256sum|sort|wc)$/ && (prompt || bare !~ /:/)) kind = "known"
  else if (prompt || word ~ /^(\.\/|scripts\/|build\/)/ || word ~ /^[a-z]+=[^ ]+$/ ||
           word ~ /^(apt|apt-get|bible|cd|cmake|cp|ctest|curl|docker|dpkg|export|git|man|mkdir|npm|python3|scp|ssh|sudo|tar|xdg-open)$/) kind = "other"
  else next
  command = start "\t" kind "\t" line
  given = line ~ /<<'END'/
  if (!given) print command
}
