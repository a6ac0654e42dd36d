#include "heed/search/search_request.h"

#include <cmath>

#include "heed/base/units.h"
#include "heed/measure/device.h"
#include "heed/search/proxies/counts.h"
#include "heed/search/worth/short_training.h"
#include "heed/spec/space_definition.h"

namespace heed::search {
namespace {

constexpr const char* kSettings = "strategy_settings";
constexpr int64_t kFinalistTokens = 1 << 16;

Json or_null(const std::optional<double>& seconds) { return seconds ? Json(*seconds) : Json(); }

std::string strategy_for_any_score() {
  for (const StrategyEntry& entry : strategies()) {
    if (!entry.needs_counted_score) return entry.name;
  }
  return "";
}

}  // namespace

bool by_law(const SearchRequest& request) { return proxies().find(request.proxy).by_law; }

bool trains_finalists(const SearchRequest& request) {
  return by_law(request) && !request.sample.data.empty() && request.finalists != 0.0;
}

bool by_counts(const SearchRequest& request) {
  const Proxy& proxy = proxies().find(request.proxy);
  return proxy.of_counts || proxy.by_law;
}

bool fits_law(const SearchRequest& request) {
  return request.fit != 0.0 && !request.sample.data.empty() && request.law.empty();
}

Json config_of(const SearchRequest& r, const Json& settings) {
  Json limits = Json::object();
  if (std::isfinite(r.limits.latency)) limits["latency"] = r.limits.latency;
  if (r.limits.memory != INT64_MAX) limits["memory"] = r.limits.memory;
  if (r.limits.total != INT64_MAX) limits["parameters"] = r.limits.total;
  if (std::isfinite(r.limits.step)) limits["step"] = r.limits.step;
  if (std::isfinite(r.limits.first_token)) limits["first_token"] = r.limits.first_token;
  if (r.limits.file != INT64_MAX) limits["file"] = r.limits.file;
  return {{"space", r.space.name},
          {spec::kSpaceDefinition, r.space.source},
          {"device", measure::this_device().fingerprint()},
          {"strategy", r.strategy},
          {"proxy", r.proxy},
          {"latency", r.measure_all ? "measured" : "summed"},
          {"keep", r.keep},
          {"baselines", r.baselines},
          {"limits", limits},
          {"objective", enum_name(r.objective)},
          {"percentile", r.percentile},
          {"sample", heed::to_json(r.sample)},
          {"train_tokens", r.train_time ? Json() : Json(tokens_of(r.space.training))},
          {"train_time", or_null(r.train_time)},
          {"law", r.law},
          {"fit", or_null(r.fit)},
          {"finalists", or_null(r.finalists)},
          {"compare", r.compare},
          {kSettings, settings}};
}

// Earlier versions kept the settings of every strategy, as "settings".
Json upgraded_config(const Json& before) {
  Json config = spec::with_space_definition(before);
  if (!config.contains("law")) config["law"] = "";
  if (!config.contains("train_time")) config["train_time"] = Json();
  if (!config.contains("objective")) config["objective"] = enum_name(Objective::kPrompt);
  if (!config.contains("percentile")) config["percentile"] = SearchRequest().percentile;
  for (const char* seconds : {"fit", "finalists", "compare"}) {
    if (!config.contains(seconds)) config[seconds] = 0.0;
  }
  if (!config.contains("train_tokens") && config.contains(spec::kSpaceDefinition))
    config["train_tokens"] =
        tokens_of(spec::read_space(config[spec::kSpaceDefinition], "config.json").training);
  if (!config.contains("settings") || !config.value("strategy", Json()).is_string()) return config;
  const StrategyEntry& strategy = strategies().find(config["strategy"]);
  const Json all = config["settings"];
  Json own = Json::object();
  for (const DescribedField& field : strategy.settings) {
    if (all.contains(field.name)) own[field.name] = all[field.name];
  }
  config.erase("settings");
  config[kSettings] = strategy.resolve(own);
  return config;
}

SearchRequest request_of(const Json& stored) {
  const Json config = upgraded_config(stored);
  const auto seconds = [&](const char* name) {
    return config.at(name).is_null() ? std::nullopt : std::optional(config.at(name).get<double>());
  };
  SearchRequest r;
  r.space = spec::read_space(config.at(spec::kSpaceDefinition), "config.json");
  r.space.name = config.at("space");
  const Json& limits = config.at("limits");
  r.limits.latency = limits.value("latency", r.limits.latency);
  r.limits.memory = limits.value("memory", r.limits.memory);
  r.limits.total = limits.value("parameters", r.limits.total);
  r.limits.step = limits.value("step", r.limits.step);
  r.limits.first_token = limits.value("first_token", r.limits.first_token);
  r.limits.file = limits.value("file", r.limits.file);
  r.objective = enum_from_name<Objective>(config.at("objective"));
  r.percentile = config.at("percentile");
  r.strategy = config.at("strategy");
  r.settings = config.at(kSettings);
  r.proxy = config.at("proxy");
  r.law = config.at("law");
  if (!config.at("train_tokens").is_null()) r.train_tokens = config.at("train_tokens");
  r.train_time = seconds("train_time");
  r.fit = seconds("fit"), r.finalists = seconds("finalists");
  r.compare = config.at("compare");
  r.sample = heed::from_json(config.at("sample"), "config.json", r.sample);
  r.measure_all = config.at("latency") == "measured";
  r.keep = config.at("keep");
  r.baselines = config.at("baselines");
  return r;
}

SearchRequest resolved(SearchRequest request) {
  const bool worth = !request.law.empty() || !request.space.law.empty() || request.fit.value_or(0) > 0;
  if (request.proxy.empty()) request.proxy = worth ? worth_proxy().name : effective_params_proxy().name;
  if (request.train_tokens > 0) {
    request.space.training = for_tokens(request.space.training, request.train_tokens);
  }
  // Finalists are evaluated often.
  int64_t& evaluated = request.space.training.evaluate_tokens;
  if (trains_finalists(request) && evaluated == 0) evaluated = kFinalistTokens;
  return request;
}

void check_request(const SearchRequest& request) {
  const StrategyEntry& strategy = strategies().find(request.strategy);
  const Proxy& proxy = proxies().find(request.proxy);
  if (strategy.needs_counted_score && !by_counts(request))
    throw usage_error("search: ", strategy.name, " needs a score computed from sizes alone, such as ",
                      effective_params_proxy().name, "; ", proxy.name, " works with --strategy ",
                      strategy_for_any_score());
  const bool fitted = request.fit.value_or(0) > 0;
  if (proxy.by_law && request.law.empty() && request.space.law.empty() && !fitted)
    throw usage_error(
        "search: space ", request.space.name,
        " has no law of worth; give one with --law, which `heed worth` fits to a text, or a text "
        "and a time for that with --data and --fit");
  if (fitted && (!proxy.by_law || !fits_law(request)))
    throw usage_error(
        "search: a law is fitted to a text if none is given; give --fit with --data TEXT, and without "
        "--law and --proxy");
  const bool trained = proxy.by_law && !request.sample.data.empty();
  if (request.train_time && (!trained || request.train_tokens > 0 || request.measure_all))
    throw usage_error(
        "search: how much can be learned in --train-time is known from a text, a law of worth and the "
        "profile; give --data TEXT, and neither --train-tokens nor --measure-all");
  if (request.train_time && !(*request.train_time > 0))
    throw usage_error("search: --train-time is ", format_seconds(*request.train_time),
                      "; give a time such as 1h");
  if (!trained && (request.finalists.value_or(0) > 0 || request.compare > 0))
    throw usage_error(
        "search: finalists, and what they are compared with, are trained on a text and chosen by a law; "
        "give --data TEXT, and --law if the space has none");
  if (request.compare > 0 && request.measure_all)
    throw usage_error("search: --compare needs the profile; leave out --measure-all");
  if (!(request.percentile >= 50) || !(request.percentile <= 99))
    throw usage_error("search: --percentile is ", request.percentile,
                      "; it must be from 50 (the median) to 99");
  const Limits& l = request.limits;
  if (!(l.latency > 0) || !(l.step > 0) || !(l.first_token > 0) || l.memory < 1 || l.total < 1 || l.file < 1)
    throw usage_error("search: a limit of 0 or less leaves no model; give positive ones");
}

}  // namespace heed::search
