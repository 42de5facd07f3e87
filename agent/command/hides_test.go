package command

import "testing"

// Characters that are drawn as something else are hidden ones: also the separators of
// lines and paragraphs, which look like the end of a line and end none for a shell.
func TestHides(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"ls\u2028rm x": true, "ls\u2029rm x": true, "ls\u202erm": true, "a\u200bb": true, "a\rb": true, "a\x1bb": true,
		"ls -la": false, "a\n\tb": false, "grün 文件": false, "a\u00a0b": false,
	} {
		if Hides(line) != want {
			t.Errorf("%q: %v", line, !want)
		}
	}
}
