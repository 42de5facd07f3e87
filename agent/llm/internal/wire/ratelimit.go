package wire

import (
	"net/http"
	"strconv"
	"time"

	"atelier.dev/atelier/agent/llm"
)

// rateLimit reads the rate limits from a response (LLM-32); nil if there are
// none. OpenAI and compatible servers put the limit's name last and give the
// time until the reset; Anthropic puts it first and gives the moment.
func rateLimit(h http.Header, now time.Time) *llm.RateLimit {
	named := func(kind string) *llm.Allowance {
		if a := allowance(h, "X-Ratelimit-", "-"+kind, now); a != nil {
			return a
		}
		return allowance(h, "Anthropic-Ratelimit-"+kind+"-", "", now)
	}
	r := &llm.RateLimit{Requests: named("Requests"), Tokens: named("Tokens")}
	if r.Tokens == nil {
		r.Tokens = named("Input-Tokens")
	}
	if r.Requests == nil && r.Tokens == nil {
		return nil
	}
	return r
}

func allowance(h http.Header, before, after string, now time.Time) *llm.Allowance {
	read := func(name string) string { return h.Get(before + name + after) }
	limit, err := strconv.ParseInt(read("Limit"), 10, 64)
	if err != nil {
		return nil
	}
	remaining, err := strconv.ParseInt(read("Remaining"), 10, 64)
	if err != nil {
		return nil
	}
	return &llm.Allowance{Limit: limit, Remaining: remaining, ResetAt: moment(read("Reset"), now)}
}

// moment reads a time, a duration ("6m0s") or a number of seconds from now.
func moment(s string, now time.Time) int64 {
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return at.UnixMilli()
	}
	if d, err := time.ParseDuration(s); err == nil {
		return now.Add(d).UnixMilli()
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil && n >= 0 && n < 1e9 {
		return now.Add(time.Duration(n * float64(time.Second))).UnixMilli()
	}
	return 0
}
