package rule

import (
	"testing"
	"time"

	"atelier.dev/atelier/agent"
)

// OAS-630: a rule holds until its end, whatever it wants, and not after it.
func TestRulesEnd(t *testing.T) {
	t.Parallel()
	_, project, home := places(t)
	end := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for _, decision := range []agent.Decision{agent.Allow, agent.Ask, agent.Deny} {
		r, err := Parse("Bash(make)")
		if err != nil {
			t.Fatal(err)
		}
		r.Decision, r.Expires = decision, end.UnixMilli()
		for _, tt := range []struct {
			at   time.Time
			want agent.Decision
		}{{end.Add(-time.Millisecond), decision}, {end, ""}} {
			set := New(Place{Project: project, Home: home, Now: func() time.Time { return tt.at }}, []Rule{r})
			if got := set.Judge(bash("make"), nil).Decision; got != tt.want {
				t.Errorf("%s at %s: %q, want %q", decision, tt.at, got, tt.want)
			}
		}
	}
}
