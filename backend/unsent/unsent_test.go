package unsent_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/unsent"
	"github.com/google/go-cmp/cmp"
)

// memory is a store whose settings last as long as a test.
type memory struct {
	mu     sync.Mutex
	values map[string]string
	err    error
}

func (m *memory) Setting(_ context.Context, key string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values[key], m.err
}

func (m *memory) SetSetting(_ context.Context, key, value string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[key], m.err = value, nil // what is written again is whole
	return nil
}

func (m *memory) ChangeSetting(_ context.Context, key string, change func(string) (string, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return m.err
	}
	text, err := change(m.values[key])
	if err == nil {
		m.values[key] = text
	}
	return err
}

func newTexts() (*memory, *unsent.Texts) {
	store := &memory{values: map[string]string{}}
	return store, unsent.New(store, "/shop")
}

func all(t *testing.T, texts *unsent.Texts) map[string]string {
	t.Helper()
	list, err := texts.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, text := range list {
		if text.Text != "" {
			got[text.Key] = text.Text
		}
	}
	return got
}

// A text that another page has changed since is not overwritten.
func TestSet(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		set   []unsent.Text
		taken []bool
		want  string
	}{
		"a new text":             {[]unsent.Text{{Text: "a"}}, []bool{true}, "a"},
		"typing on":              {[]unsent.Text{{Text: "a"}, {Text: "ab", Revision: 1}, {Text: "abc", Revision: 2}}, []bool{true, true, true}, "abc"},
		"two pages":              {[]unsent.Text{{Text: "a"}, {Text: "b"}}, []bool{true, false}, "a"},
		"an old page":            {[]unsent.Text{{Text: "a"}, {Text: "b", Revision: 1}, {Text: "c", Revision: 1}}, []bool{true, true, false}, "b"},
		"what was sent":          {[]unsent.Text{{Text: "a"}, {Text: "", Revision: 1}, {Text: "ab", Revision: 1}}, []bool{true, true, false}, ""},
		"the same on both pages": {[]unsent.Text{{Text: "a"}, {Text: "a"}, {Text: "a", Revision: 1}}, []bool{true, true, true}, "a"},
		"after a conflict":       {[]unsent.Text{{Text: "a"}, {Text: "b"}, {Text: "b\n\na", Revision: 1}}, []bool{true, false, true}, "b\n\na"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, texts := newTexts()
			for i, text := range tt.set {
				text.Key = "draft:s"
				now, taken, err := texts.Set(t.Context(), text)
				if err != nil || taken != tt.taken[i] {
					t.Errorf("%d: %+v %v %v", i, now, taken, err)
				}
				if taken && now.Text != text.Text {
					t.Errorf("%d: is %q now", i, now.Text)
				}
			}
			if got := all(t, texts)["draft:s"]; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Nothing of a session that was removed is left.
func TestForget(t *testing.T) {
	t.Parallel()
	store, texts := newTexts()
	for _, key := range []string{"draft:s1", "draft:s1/q", "edit:s1", "comments:s1", "draft:s10", "draft:/shop", "comments:/shop"} {
		if _, _, err := texts.Set(t.Context(), unsent.Text{Key: key, Text: "text of " + key}); err != nil {
			t.Fatal(err)
		}
	}
	if err := texts.Forget(t.Context(), "s1", "s2"); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"draft:s10": "text of draft:s10", "draft:/shop": "text of draft:/shop", "comments:/shop": "text of comments:/shop"}
	if diff := cmp.Diff(want, all(t, texts)); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(store.values["unsent:/shop"], "s1/q") {
		t.Error("the text is still stored")
	}
}

// Pages that write different texts at once lose none.
func TestSetAtOnce(t *testing.T) {
	t.Parallel()
	_, texts := newTexts()
	var pages sync.WaitGroup
	for n := range 20 {
		pages.Go(func() {
			if _, taken, err := texts.Set(t.Context(), unsent.Text{Key: fmt.Sprint("draft:", n), Text: "x"}); !taken || err != nil {
				t.Error(taken, err)
			}
		})
	}
	pages.Wait()
	if got := all(t, texts); len(got) != 20 {
		t.Errorf("%d texts are kept", len(got))
	}
}

// What is kept is bounded, and what is there stays.
func TestBounds(t *testing.T) {
	t.Parallel()
	_, texts := newTexts()
	set := func(key, text string) error {
		_, _, err := texts.Set(t.Context(), unsent.Text{Key: key, Text: text})
		return err
	}
	if err := set("draft:"+strings.Repeat("k", 600), "x"); err == nil {
		t.Error("a key without bounds was taken")
	}
	if err := set("draft:a", strings.Repeat("x", 3<<20)); err != nil {
		t.Error(err)
	}
	if err := set("draft:b", strings.Repeat("x", 2<<20)); err == nil {
		t.Error("texts without bounds were taken")
	}
	if got := slices.Collect(func(yield func(string) bool) {
		for key := range all(t, texts) {
			yield(key)
		}
	}); !slices.Equal(got, []string{"draft:a"}) {
		t.Error(got)
	}
	_, texts = newTexts()
	for n := range 250 { // each is sent
		key := fmt.Sprint("draft:", n)
		now, _, err := texts.Set(t.Context(), unsent.Text{Key: key, Text: "x"})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := texts.Set(t.Context(), unsent.Text{Key: key, Revision: now.Revision}); err != nil {
			t.Fatal(err)
		}
	}
	if list, _ := texts.All(t.Context()); len(list) > 200 {
		t.Errorf("%d texts are remembered", len(list))
	}
}

// Damaged texts do not keep new ones away; a store that cannot be read does.
func TestDamaged(t *testing.T) {
	t.Parallel()
	store, texts := newTexts()
	store.values["unsent:/shop"] = "{damaged"
	if _, taken, err := texts.Set(t.Context(), unsent.Text{Key: "draft:s", Text: "x"}); !taken || err != nil {
		t.Error(taken, err)
	}
	store.err = backend.Problem(backend.ProblemStoreInUse)
	if _, err := texts.All(t.Context()); err == nil {
		t.Error("nothing failed")
	}
}
