"""The load test itself, for ten seconds on the toy pair."""

from load import PROMPTS, configs, fairness, load, quantile, summary
from serving import TOY, serving


def test_a_few_visitors_for_ten_seconds() -> None:
    with serving() as serve:
        server = serve(TOY, "0.002", SPECDEMO_RUNS_AT_ONCE="2", SPECDEMO_LOG="off")
        found = summary(load(server.url, None, visitors=9, seconds=10.0, tokens=24))
    assert (found["mixed"], found["lost"], found["errors"]) == (0, 0, {})
    assert found["runs"]["whole"] >= 3
    assert found["fair_share"]["jain"] > 0.7
    assert found["first_token_s"]["p95"] < 10.0


def test_the_measures_of_the_report() -> None:
    assert fairness([5, 5, 5]) == 1.0
    assert fairness([9, 0, 0]) == 0.333
    assert quantile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert quantile([], 0.5) is None
    assert len({config.prompt for config in configs(8)}) == len(PROMPTS)
