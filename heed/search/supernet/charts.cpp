#include "heed/search/supernet/charts.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "heed/spec/letters.h"

namespace heed::search {
namespace {

std::string name_of(char letter) { return spec::letter_row(letter).name; }

// From dark violet over green to yellow: brighter is more probable, also in print.
std::string colour(double share) {
  struct Stop {
    double at, red, green, blue;
  };
  static constexpr Stop stops[] = {
      {0, 68, 1, 84}, {0.25, 59, 82, 139}, {0.5, 33, 145, 140}, {0.75, 94, 201, 98}, {1, 253, 231, 37}};
  size_t next = 1;
  while (next < 4 && share > stops[next].at) ++next;
  const Stop &a = stops[next - 1], &b = stops[next];
  const double t = std::clamp((share - a.at) / (b.at - a.at), 0.0, 1.0);
  const auto between = [&](double from, double to) {
    return static_cast<int>(std::lround(from + t * (to - from)));
  };
  char hex[8];
  std::snprintf(hex, sizeof hex, "#%02x%02x%02x", between(a.red, b.red), between(a.green, b.green),
                between(a.blue, b.blue));
  return hex;
}

std::string escaped(const std::string& plain) {
  std::string out;
  for (const char c : plain) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

class Svg {
 public:
  Svg(double width, double height, const std::string& title) {
    out_ = text("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", width, " ", height,
                "\" font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"", width, "\" height=\"",
                height, "\" fill=\"white\"/>\n");
    write(16, 24, title, "start", 16);
  }
  void write(double x, double y, const std::string& words, const char* anchor = "middle", int size = 13,
             const char* fill = "black") {
    out_ += text("<text x=\"", x, "\" y=\"", y, "\" text-anchor=\"", anchor, "\" font-size=\"", size,
                 "\" fill=\"", fill, "\">", escaped(words), "</text>\n");
  }
  void box(double x, double y, double width, double height, const std::string& fill, bool framed = false) {
    out_ += text("<rect x=\"", x, "\" y=\"", y, "\" width=\"", width, "\" height=\"", height, "\" fill=\"",
                 fill, framed ? "\" stroke=\"#d1495b\" stroke-width=\"3\"/>\n" : "\"/>\n");
  }
  // The colour scale.
  void scale(double x, double y) {
    constexpr int kSteps = 50;
    for (int i = 0; i < kSteps; ++i) box(x + 2 * i, y, 2.5, 12, colour((i + 0.5) / kSteps));
    write(x, y + 26, "0", "start");
    write(x + 2 * kSteps, y + 26, "1", "end");
    write(x + kSteps, y + 26, "probability");
  }
  std::string str() const { return out_ + "</svg>\n"; }

 private:
  std::string out_;
};

std::string percent(double share) { return text(std::lround(100 * share)); }

}  // namespace

std::string choice_chart(const Choice& choice, const std::string& title) {
  constexpr double kCell = 34, kLeft = 110, kTop = 44;
  const auto layers = static_cast<double>(choice.probabilities.size()),
             letters = static_cast<double>(choice.letters.size());
  const double width = std::max(420.0, kLeft + layers * kCell + 16), bottom = kTop + letters * kCell;
  Svg svg(width, bottom + 92, title);
  const std::string chosen = choice.by_layer();
  for (size_t i = 0; i < choice.letters.size(); ++i)
    svg.write(kLeft - 8, kTop + (static_cast<double>(i) + 0.6) * kCell, name_of(choice.letters[i]), "end");
  for (const bool framed : {false, true}) {
    for (size_t layer = 0; layer < chosen.size(); ++layer) {
      for (size_t i = 0; i < choice.letters.size(); ++i) {
        const bool wins = chosen[layer] == choice.letters[i];
        if (framed && !wins) continue;
        const double share = choice.probabilities[layer][i], x = kLeft + static_cast<double>(layer) * kCell,
                     y = kTop + static_cast<double>(i) * kCell;
        svg.box(x + 1, y + 1, kCell - 2, kCell - 2, colour(share), framed);
        svg.write(x + kCell / 2, y + kCell / 2 + 4, percent(share), "middle", 11,
                  share > 0.55 ? "black" : "white");
      }
    }
  }
  for (size_t layer = 0; layer < chosen.size(); ++layer)
    svg.write(kLeft + (static_cast<double>(layer) + 0.5) * kCell, bottom + 18, text(layer + 1));
  svg.write(kLeft + layers * kCell / 2, bottom + 38, "layer; numbers are percent, framed is chosen");
  svg.scale(kLeft, bottom + 50);
  return svg.str();
}

std::string course_chart(const std::vector<ChoiceAt>& course, const std::string& title) {
  constexpr double kWidth = 600, kRow = 12, kLeft = 150, kTop = 40, kGap = 16;
  constexpr size_t kMostColumns = 150;
  if (course.empty()) return Svg(420, 60, title + ": nothing was recorded").str();
  const std::string& letters = course[0].choice.letters;
  const size_t layers = course[0].choice.probabilities.size(),
               columns = std::min(kMostColumns, course.size());
  const double panel = static_cast<double>(layers) * kRow + kGap,
               bottom = kTop + static_cast<double>(letters.size()) * panel,
               column = kWidth / static_cast<double>(columns);
  // Lines are written when logits were updated; columns are evenly spaced.
  const auto step_of = [&](size_t c) {
    const auto all = static_cast<double>(course.back().step - course.front().step);
    return course.front().step +
           std::llround(all * static_cast<double>(c + 1) / static_cast<double>(columns));
  };
  Svg svg(kLeft + kWidth + 24, bottom + 88, title);
  for (size_t i = 0; i < letters.size(); ++i) {
    const double top = kTop + static_cast<double>(i) * panel;
    svg.write(16, top + (panel - kGap) / 2 + 4, name_of(letters[i]), "start");
    for (const size_t layer : {size_t{0}, layers - 1})
      svg.write(kLeft - 6, top + (static_cast<double>(layer) + 0.85) * kRow,
                text(layer ? "" : "layer ", layer + 1), "end", 11);
    size_t next = 1;
    for (size_t c = 0; c < columns; ++c) {
      while (next < course.size() && course[next].step <= step_of(c)) ++next;
      const Choice& at = course[next - 1].choice;
      for (size_t layer = 0; layer < layers; ++layer)
        svg.box(kLeft + static_cast<double>(c) * column, top + static_cast<double>(layer) * kRow,
                column + 0.3, kRow - 1, colour(at.probabilities[layer][i]));
    }
  }
  svg.write(kLeft, bottom + 8, text(course.front().step), "start");
  svg.write(kLeft + kWidth, bottom + 8, text(course.back().step), "end");
  svg.write(kLeft + kWidth / 2, bottom + 8, "iteration");
  svg.scale(kLeft, bottom + 40);
  return svg.str();
}

}  // namespace heed::search
