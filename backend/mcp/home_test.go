package mcp

import "testing"

// A program and its folder may be named from the user's home folder, as a shell would.
func TestFromHome(t *testing.T) {
	t.Parallel()
	f := &filling{surroundings: surroundings{user: "/home/me"}}
	for text, want := range map[string]string{
		"~/bin/server": "/home/me/bin/server", "~": "/home/me", "~other/bin": "~other/bin", "bin/~/x": "bin/~/x", "server": "server", "/opt/x": "/opt/x", "": "",
	} {
		if got := f.fromHome(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
	if got := (&filling{}).fromHome("~/x"); got != "~/x" {
		t.Errorf("without a home folder: %q", got)
	}
}
