package journal

import "testing"

// Where the file system ignores case, a file that got its name in another case is found
// under the old one, too, but not listed there.
func TestOtherCase(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"a": true, "A": false, "B": true, "b": false, "c": false} {
		if got := otherCase([]string{"A", "b", "d"}, name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for _, tt := range []struct {
		names map[string]bool
		want  bool
	}{{map[string]bool{"a": false, "b": true}, false}, {map[string]bool{"a": false, "A": true}, true}, {nil, false}} {
		if got := changedCase(tt.names); got != tt.want {
			t.Errorf("%v: %v", tt.names, got)
		}
	}
}
