package confine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// K-47: a home that is mounted at several places is hidden at each.
func TestOtherPlaces(t *testing.T) {
	t.Parallel()
	table := Mounts{
		{"8:1", "/", "/"}, {"8:2", "/", "/home"}, {"8:2", "/me", "/srv/me"}, {"8:2", "/", "/mnt/all"}, {"8:3", "/", "/mnt/other"},
		{"8:2", "/other", "/mnt/other user"}, {"8:2", "/me/.ssh/id", "/run/key"},
	}
	for path, want := range map[string][]string{
		"/home/me/.ssh":    {"/srv/me/.ssh", "/mnt/all/me/.ssh"},
		"/home/me/.ssh/id": {"/srv/me/.ssh/id", "/mnt/all/me/.ssh/id", "/run/key"},
		"/srv/me/.ssh":     {"/home/me/.ssh", "/mnt/all/me/.ssh"},
		"/etc/shadow":      nil,
		"/mnt/other/x":     nil,
		"/home":            {"/mnt/all"},
	} {
		if diff := cmp.Diff(want, table.Others(path)); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	if got := unescape(`/a\040b\134c\0`); got != `/a b\c\0` {
		t.Error(got)
	}
}
