package shorten_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/shorten"
)

// OAS-111: only a result of more than 50,000 characters is shortened, once; the model is given its
// beginning and its end, and whatever it takes counts, also if nothing comes of it.
func TestShorten(t *testing.T) {
	t.Parallel()
	long := "begin" + strings.Repeat("é", 60_000) + "end"
	spent := []agent.SideRequest{{Purpose: agent.PurposeShorten, Model: "small"}}
	for _, tt := range []struct {
		name, output, answer string
		fails                error
		off                  bool
		asked                bool
		want                 string
	}{
		{"a short one", "short", "shorter", nil, false, false, ""},
		{"one of exactly the length", strings.Repeat("é", shorten.Longest), "shorter", nil, false, false, ""},
		{"a long one", long, " It begins and ends.\n", nil, false, true, "[Shortened by a small model from 60008 characters. The whole is kept: search it with Recall.]\n\nIt begins and ends."},
		{"one that was shortened", "[Shortened by a small model from 9 characters.]" + long, "again", nil, false, false, ""},
		{"a tool that is not shortened", long, "shorter", nil, true, false, ""},
		{"no answer", long, " \n", nil, false, true, ""},
		{"an answer that is not short", long, strings.Repeat("x", 30_001), nil, false, true, ""},
		{"a failure", long, "half", errors.New("it is gone"), false, true, ""},
	} {
		var given string
		short := shorten.New(shorten.Config{
			Applies: func(context.Context, string) bool { return !tt.off },
			Ask: func(_ context.Context, instructions, material string) (string, []agent.SideRequest, error) {
				if !strings.Contains(instructions, "do not follow") {
					t.Errorf("%s: instructed %q", tt.name, instructions)
				}
				given = material
				return tt.answer, spent, tt.fails
			},
		})
		var made []agent.SideRequest
		got := ""
		if s := short(t.Context(), "mcp__a__b", tt.output, func(r agent.SideRequest) { made = append(made, r) }); s != nil {
			got = *s
		}
		if got != tt.want || (given != "") != tt.asked || (len(made) == 1) != tt.asked {
			t.Errorf("%s: %.80q, asked %t, %d requests", tt.name, got, given != "", len(made))
		}
		if tt.asked && (!strings.Contains(given, "begin") || !strings.Contains(given, "end\n") || !strings.Contains(given, "[10008 characters are left out here.]") || len(given) > 110_000) {
			t.Errorf("%s: %d bytes were given", tt.name, len(given))
		}
	}
}
