package gitguard

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFind(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		list []string // scopes and names
		want Programs
		bad  bool
	}{
		"filters of the repository": {
			list: []string{"global", "filter.lfs.clean", "local", "filter.a=b.clean", "local", "filter.a=b.smudge", "worktree", "filter.x.y.process"},
			want: Programs{Filters: []string{"a=b", "x.y"}},
		},
		"hooks of any configuration": {
			list: []string{"global", "hook.lint.command", "local", "hook.a.b.event", "local", "hook.jobs"},
			want: Programs{Hooks: []string{"lint", "a.b"}},
		},
		"programs of lfs":           {list: []string{"local", "lfs.extension.evil.clean"}, want: Programs{Filters: []string{"lfs"}}},
		"transfers of lfs":          {list: []string{"local", "lfs.https://a.b/c.standalonetransferagent"}, want: Programs{Filters: []string{"lfs"}}},
		"the user's lfs":            {list: []string{"global", "lfs.extension.mine.clean", "local", "lfs.url"}},
		"a garbled name":            {list: []string{"local", "filter.\xff.clean"}, bad: true},
		"a garbled name of a hook":  {list: []string{"local", "hook.\xff.command"}, bad: true},
		"a garbled name of neither": {list: []string{"local", "branch.\xff.remote"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := Find(strings.Join(tt.list, "\x00") + "\x00")
			if diff := cmp.Diff(tt.want, got); diff != "" || ok == tt.bad {
				t.Errorf("%v\n%s", ok, diff)
			}
		})
	}
}

func TestOff(t *testing.T) {
	t.Parallel()
	got := Programs{Filters: []string{"f"}, Hooks: []string{"h=i"}}.Off()
	want := strings.Fields("--config-env filter.f.clean=" + nothing + " --config-env filter.f.smudge=" + nothing + " --config-env filter.f.process=" + nothing +
		" --config-env filter.f.required=" + no + " --config-env hook.h=i.enabled=" + no)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
