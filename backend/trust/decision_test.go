package trust

import (
	"encoding/json"
	"os"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	w.Stand(other, []Item{{Kind: other, ID: "server", Command: Command{Line: "true"}}})
	w.Stand(KindHook, []Item{
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
	w.Stand(KindHook, items)
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
			w.Stand(KindHook, tt.stand)
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
	after, err := w.load(t.Context())
	if err != nil || len(after) != maxRecords || after[0].ID != "1" || after[maxRecords-1].ID != "new" {
		t.Errorf("%d decisions are kept, %v", len(after), err)
	}
	if _, ok := w.store.values[oldest]; ok || len(w.store.values) != 2 {
		t.Errorf("%d texts are kept", len(w.store.values)-1)
	}
}
