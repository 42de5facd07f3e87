package trust

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/backend"
)

// What is accepted for a run are the items of one kind that may be accepted. A
// revocation ends that as well.
func TestAcceptForRunLeavesOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("big.sh", "x")
	if err := os.Truncate(w.path("big.sh"), maxBytes+1); err != nil {
		t.Fatal(err)
	}
	const other = Kind("server")
	w.SetItems(other, []Item{{Kind: other, ID: "server", Command: Command{Line: "true"}}})
	w.SetItems(KindHook, []Item{
		{Kind: KindHook, ID: "blocked", Command: Command{Line: "sh big.sh"}}, {Kind: KindHook, ID: "refused", Command: Command{Line: "true"}},
		{Kind: KindHook, ID: "fine", Command: Command{Line: "true"}},
	})
	if err := w.Refuse(t.Context(), "refused"); err != nil {
		t.Fatal(err)
	}
	check := func(when string, want map[string]State) {
		t.Helper()
		got := map[string]State{}
		for id := range want {
			state, err := w.Check(t.Context(), id, "")
			if err != nil {
				t.Fatal(err)
			}
			got[id] = state
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", when, diff)
		}
	}
	if n, err := w.AcceptForRun(t.Context(), KindHook); n != 1 || err != nil {
		t.Errorf("%d were accepted, %v", n, err)
	}
	check("accepted", map[string]State{"blocked": StateUnknown, "refused": StateRefused, "fine": StateTrusted, "server": StateUnknown})
	if err := w.Revoke(t.Context(), "fine"); err != nil {
		t.Fatal(err)
	}
	check("revoked", map[string]State{"fine": StateUnknown})
}

// What was accepted and does not stand there any more is listed as gone, once it is
// known what stands there; what was refused is not.
func TestGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	items := []Item{{Kind: KindHook, ID: "accepted", Command: Command{Line: "true"}}, {Kind: KindHook, ID: "refused", Slot: "x", Command: Command{Line: "true"}}}
	w.SetItems(KindHook, items)
	shown, err := w.Show(t.Context(), "accepted")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Accept(t.Context(), "accepted", shown.Seal); err != nil {
		t.Fatal(err)
	}
	if err := w.Refuse(t.Context(), "refused"); err != nil {
		t.Fatal(err)
	}
	w.open()
	for name, tt := range map[string]struct {
		stand []Item
		want  []string
	}{
		"before anything was read": {nil, nil}, "nothing stands there": {[]Item{}, []string{"accepted gone"}}, "both do": {items, []string{"accepted trusted", "refused refused"}},
	} {
		w.open()
		if tt.stand != nil {
			w.SetItems(KindHook, tt.stand)
		}
		list, err := w.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range list {
			got = append(got, s.ID+" "+string(s.State))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// The oldest decisions are forgotten, and what was accepted with them.
func TestDecisionsAreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var before index
	for i := range maxRecords {
		before = append(before, record{Kind: KindHook, ID: strconv.Itoa(i), Origin: "o", Slot: strconv.Itoa(i), Seal: "s"})
	}
	b, err := json.Marshal(before)
	if err != nil {
		t.Fatal(err)
	}
	oldest := w.keyContents(before[0].key())
	w.store.values = map[string]string{w.keyIndex(): string(b), oldest: "{}", w.keyContents(before[1].key()): "{}"}
	w.stands(Item{ID: "new", Origin: "o", Slot: "new", Command: Command{Line: "true"}})
	if err := w.Refuse(t.Context(), "new"); err != nil {
		t.Fatal(err)
	}
	decided, err := w.load(t.Context())
	after := decided.index
	if err != nil || len(after) != maxRecords || after[0].ID != "1" || after[maxRecords-1].ID != "new" {
		t.Errorf("%d decisions are kept, %v", len(after), err)
	}
	if _, ok := w.store.values[oldest]; ok || len(w.store.values) != 2 {
		t.Errorf("%d texts are kept", len(w.store.values)-1)
	}
}

// A revocation also forgets what was accepted in whose place the item stands now.
func TestRevokeOfWhatTookAPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.stands(Item{ID: "1", Origin: "o", Slot: "s", Command: Command{Line: "true"}})
	w.accept()
	w.stands(Item{ID: "2", Origin: "o", Slot: "s", Command: Command{Line: "false"}})
	w.wants(StateChanged)
	if err := w.Revoke(t.Context(), "2"); err != nil {
		t.Fatal(err)
	}
	w.wants(StateUnknown)
}

// The texts that are kept for differences are limited; what is too long is pinned
// nevertheless.
func TestKeptTextsAreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("long.txt", strings.Repeat("x", maxContents+1))
	w.write("run.sh", "cat long.txt")
	w.stands(Item{Command: Command{Line: "sh run.sh long.txt"}})
	w.accept()
	r, err := w.record(t.Context(), w.items().all[0])
	if err != nil {
		t.Fatal(err)
	}
	kept, err := w.contents(t.Context(), r)
	if _, ok := kept["long.txt"]; err != nil || ok || kept["run.sh"] != "cat long.txt" {
		t.Errorf("%d texts are kept, %v", len(kept), err)
	}
	w.write("long.txt", strings.Repeat("x", maxContents)+"y")
	w.wants(StateChanged)
}

// Another work tree may be named by a link, and a hook may name files of the project
// itself from there.
func TestOtherFolderByALink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("own.sh", "echo own")
	w.write("tools/near.sh", "echo near")
	w.stands(Item{Command: Command{Line: w.path("own.sh") + "; tools/near.sh"}})
	tree, link := filepath.Join(filepath.Dir(w.project), "tree"), filepath.Join(filepath.Dir(w.project), "link")
	if err := errors.Join(os.CopyFS(tree, os.DirFS(w.project)), os.Symlink(tree, link)); err != nil {
		t.Fatal(err)
	}
	item := w.items().all[0]
	if a, b := w.snapshot(item, tree), w.snapshot(item, link); a.seal() != b.seal() {
		t.Errorf("%+v is seen by a link as %+v", a.files, b.files)
	}
	before := w.snapshot(item, tree).seal()
	w.write("own.sh", "echo other")
	if w.snapshot(item, tree).seal() == before {
		t.Error("the project's own file is not pinned")
	}
}

// What a shell reads from a file is pinned, hidden characters of a definition are
// noted, and what cannot be looked through or read in full is not taken for known.
func TestUnusualItems(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		command Command
		prepare func(w *world) error
		files   []string
		notes   []NoteID
		blocked bool
	}{
		"a redirection":          {Command{Line: "sh -s < run.sh"}, nil, []string{"run.sh"}, nil, false},
		"a redirection and both": {Command{Line: "cat <> run.sh"}, nil, []string{"run.sh"}, nil, false},
		"a text from the right":  {Command{Line: "echo \u202egnihton"}, nil, nil, []NoteID{NoteHidden}, false},
		"too long":               {Command{Line: "./run.sh " + strings.Repeat("x", maxLine)}, nil, []string{"run.sh"}, []NoteID{NoteUnread}, false},
		"too deep":               {Command{Line: strings.Repeat("(", 400) + "./run.sh" + strings.Repeat(")", 400) + "; { :; }"}, nil, []string{"run.sh"}, []NoteID{NoteUnread}, false},
		"too many folders": {Command{Line: ".agent/hooks/run.sh"}, func(w *world) (err error) {
			for i := range maxEntries {
				err = errors.Join(err, os.Mkdir(w.path(".agent/hooks/"+strconv.Itoa(i)), 0o755))
			}
			return err
		}, []string{".agent/hooks/run.sh"}, []NoteID{NoteMany}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("run.sh", "true")
			w.write(".agent/hooks/run.sh", "true")
			if tt.prepare != nil {
				if err := tt.prepare(w); err != nil {
					t.Fatal(err)
				}
			}
			s := w.stands(Item{Own: !tt.blocked, Command: tt.command})
			var notes []NoteID
			for _, n := range s.Notes {
				notes = append(notes, n.ID)
			}
			if diff := cmp.Diff(tt.notes, notes); diff != "" || s.Blocked != tt.blocked {
				t.Errorf("blocked: %v, %s", s.Blocked, diff)
			}
			if diff := cmp.Diff(tt.files, s.Files); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Of two answers to one question a refusal counts, whichever comes last. Who looks again
// sees it, and can accept.
func TestARefusalOutlastsAnAnswerBesideIt(t *testing.T) {
	t.Parallel()
	w := withScript(t)
	first := w.show()
	if err := w.Refuse(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	var problem *backend.Error
	if err := w.Accept(t.Context(), first.ID, first.Seal); !errors.As(err, &problem) || problem.ID != backend.ProblemTrustChanged {
		t.Errorf("%v", err)
	}
	w.wants(StateRefused)
	w.write(script, "other")
	if err := w.Accept(t.Context(), first.ID, first.Seal+refusedSeal); !errors.As(err, &problem) || problem.ID != backend.ProblemTrustChanged {
		t.Errorf("%v", err)
	}
	w.accept()
}

// K-16: no text with a secret is kept. A later difference from it shows all of it.
func TestNoSecretIsKept(t *testing.T) {
	t.Parallel()
	const key = "sk-proj-abcdefghijklmnop1234"
	w := withScript(t)
	w.write(script, "curl -H "+key)
	w.stands(Item{Title: key, Definition: "a header", Private: true, Command: Command{Line: "sh " + script}})
	w.accept()
	for name, text := range w.store.values {
		if strings.Contains(text, key) || strings.Contains(text, "a header") {
			t.Errorf("%s: %s", name, text)
		}
	}
	w.write(script, "curl -H "+key+" evil")
	w.wants(StateChanged)
	for _, text := range w.show().Texts {
		if (text.Path == "" || text.Path == script) && !strings.Contains(text.Diff, "+"+text.Text) {
			t.Errorf("%s: %q", text.Path, text.Diff)
		}
	}
}

// A link in the folder of a script is pinned with what it leads to, because the script may
// load it.
func TestLinksBesideAScript(t *testing.T) {
	t.Parallel()
	w := withScript(t)
	w.write("src/lib.py", "one")
	if err := os.Symlink("../../src/lib.py", w.path(".claude/hooks/lib.py")); err != nil {
		t.Fatal(err)
	}
	w.accept()
	w.write("src/lib.py", "two")
	w.wants(StateChanged)
}

// Only the trust in the item of the kind is kept.
func TestKeepsOneKind(t *testing.T) {
	t.Parallel()
	w := withScript(t)
	w.accept()
	id := w.status().ID
	for _, c := range []struct {
		kind Kind
		id   string
		want bool
	}{{KindHook, id, true}, {"another", id, false}, {KindHook, "another", false}} {
		if got, err := w.Keeps(t.Context(), c.kind, c.id); got != c.want || err != nil {
			t.Errorf("%s %s: %t, %v", c.kind, c.id, got, err)
		}
	}
	if err := w.Refuse(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if got, err := w.Keeps(t.Context(), KindHook, id); got || err != nil {
		t.Errorf("refused: %t, %v", got, err)
	}
}
