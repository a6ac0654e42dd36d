# What makes a command of the documents short. Nothing else about it is changed.
s/--tokens [0-9.]+[KMG]?/--tokens 20K/
s/--steps [0-9]+/--steps 40/
s/--train-tokens [0-9.]+[KMG]?/--train-tokens 5K/
s/--more-steps [0-9]+/--more-steps 5/
s/--max-steps [0-9]+/--max-steps 10/
s/--max-time [0-9.]+[a-z]+/--max-time 5s/
s/--models [0-9]+/--models 3/
s/--check [0-9]+/--check 2/
/--law .*--data/s/heed search /heed search --finalists 1s /
/heed worth .*(-o|--out) /{
  s/ --(models|tokens|budget) [0-9.]+[A-Za-z]*//g
  s/heed worth /heed worth --models 12 --tokens 512 /
}
s/ -n [0-9]+/ -n 10/
/heed bench /s/--seconds [0-9.]+[a-z]*//
s/heed bench /heed bench --seconds 20ms --least 1 /
s/heed serve /heed serve --port 0 /
s/--port 0 (.*)--port [0-9]+/--port 0 \1/
# A search of other models finds other models.
s/models\/m[0-9]+\.json/models\/m01.json/g
# The manual page, also where there is no man.
s/\| man -l -/| cat/
