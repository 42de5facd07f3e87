package tool

import (
	"fmt"
	"strings"
	"testing"
)

// LOOP-38: progress costs the model its last state, and what was printed between
// is kept, in every tool that shows a command's output.
func TestProgressIsShownOnce(t *testing.T) {
	t.Parallel()
	redraw := func(how string) string {
		var b strings.Builder
		for i := range 3000 {
			if i == 1500 {
				b.WriteString(how + "warning: half of it\n")
			}
			fmt.Fprintf(&b, "%s%4d of 3000", how, i+1)
		}
		return b.String() + "\nready\n"
	}
	for _, how := range []string{"\r", "\x1b[2K\r", "\x1b[2K\x1b[1G", "\r\x1b[K", "\x1b[99D", "\x1b[0m\x1b[1G\x1b[0K"} {
		for _, tool := range []string{"Bash", "TaskOutput", "WriteStdin"} {
			if got, want := Truncate(tool, redraw(how), 0), "warning: half of it\n3000 of 3000\nready\n"; got != want {
				t.Errorf("%s, %q: %.200q", tool, how, got)
			}
		}
	}
	bars := "first\n" + strings.Repeat("\x1b[1A\x1b[2Kbar\n", 3000)
	if got := TruncateLines("Bash", bars, 0); got != "bar\n" {
		t.Errorf("moving up: %.200q", got)
	}
	if text := "a\rb\x1b[31m"; Truncate("Read", text, 0) != text {
		t.Error("a file was changed")
	}
}
