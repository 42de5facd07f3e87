package ignore

import (
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
)

// A line yields one rule that can be matched, or no rule.
func FuzzReadRule(f *testing.F) {
	f.Add("!/a/**/b/", "a/x/b", true)
	f.Add(`\#[!x]{a,b}\ `, "#ya ", false)
	f.Add("/", "", true)
	f.Fuzz(func(t *testing.T, line, path string, dir bool) {
		r, ok := ReadRule(line)
		if !ok {
			return
		}
		if r.Pattern == "" || !doublestar.ValidatePattern(r.Pattern) {
			t.Errorf("%q is %+v", line, r)
		}
		if strings.Count(r.Pattern, "{") > MaxBraces {
			return
		}
		got := Judge([]Rule{r}, path, dir)
		if got == Ignored && r.Negated || got == Included && !r.Negated || got != Silent && r.OnlyDir && !dir {
			t.Errorf("%q judges %q %t as %d", line, path, dir, got)
		}
	})
}
