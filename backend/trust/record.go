package trust

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/backend"
)

// record is what the user decided about an item.
type record struct {
	Kind    Kind        `json:"kind"`
	ID      string      `json:"id"`
	Title   string      `json:"title"`
	Origin  string      `json:"origin"`
	Slot    string      `json:"slot,omitempty"`
	Scope   agent.Scope `json:"scope,omitempty"`
	Seal    string      `json:"seal,omitempty"` // of what was accepted
	Refused bool        `json:"refused,omitempty"`
	At      int64       `json:"at"` // in milliseconds since 1970
}

func (r record) key() string { return string(r.Kind) + ":" + r.ID }

func key(i Item) string { return string(i.Kind) + ":" + i.ID }

// index is what was decided in a folder, the oldest first.
type index []record

// of returns what was decided about an item or, if nothing was, about the accepted
// one whose place it took.
func (x index) of(item Item, standing []Item) record {
	for _, r := range x {
		if r.key() == key(item) {
			return r
		}
	}
	for _, r := range x {
		if r.Kind == item.Kind && r.Origin == item.Origin && r.Slot == item.Slot && r.Seal != "" &&
			!slices.ContainsFunc(standing, func(i Item) bool { return key(i) == r.key() }) {
			return r
		}
	}
	return record{}
}

// Limits of what is kept.
const (
	maxRecords  = 500       // of a folder; the oldest are forgotten
	maxContents = 256 << 10 // bytes of an item's texts
)

// The keys of the user's own data.
func (t *Trust) keyIndex() string { return "trust.items." + t.cfg.Folder }
func (t *Trust) keyContents(item string) string {
	return "trust.contents." + t.cfg.Folder + "\x00" + item
}

// load reads what was decided, which another process may have changed.
func (t *Trust) load(ctx context.Context) (index, error) {
	text, err := t.cfg.Store.Setting(ctx, t.keyIndex())
	if err != nil || text == "" {
		return nil, err
	}
	t.mu.Lock()
	before := t.read
	t.mu.Unlock()
	if before.text == text {
		return before.index, nil
	}
	var x index
	if err := json.Unmarshal([]byte(text), &x); err != nil {
		return nil, backend.Problem(backend.ProblemSettingDamaged, t.keyIndex()).Because(err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.read = reading{text, x}
	return x, nil
}

// reading is what was read last of the store. It does not change.
type reading struct {
	text  string
	index index
}

// record returns what was decided about an item.
func (t *Trust) record(ctx context.Context, item Item) (record, error) {
	x, err := t.load(ctx)
	return x.of(item, t.items()), err
}

// contents returns the texts that were accepted, by path; the definition's is "".
func (t *Trust) contents(ctx context.Context, of record) (map[string]string, error) {
	if of.Seal == "" {
		return nil, nil
	}
	text, err := t.cfg.Store.Setting(ctx, t.keyContents(of.key()))
	if err != nil || text == "" {
		return nil, err
	}
	var out map[string]string
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return nil, backend.Problem(backend.ProblemSettingDamaged, t.keyContents(of.key())).Because(err)
	}
	return out, nil
}

// keep stores a decision, unless the one before it stands in the way. The one about an
// item whose place this one took is dropped.
func (t *Trust) keep(ctx context.Context, item Item, r record, contents map[string]string, unless func(before record) error) error {
	r.Kind, r.ID, r.Title, r.Origin, r.Slot, r.At = item.Kind, item.ID, sandbox.Redact(item.Title), item.Origin, item.Slot, t.cfg.Now().UnixMilli()
	r.Scope = item.Scope
	return t.change(ctx, func(x index) (index, error) {
		before := x.of(item, t.items())
		x = slices.DeleteFunc(x, func(o record) bool { return o.key() == r.key() || o.key() == before.key() })
		return append(x, r), unless(before)
	}, func() error {
		if contents == nil {
			return nil
		}
		b, err := json.Marshal(contents)
		if err != nil {
			return fmt.Errorf("keep what was accepted: %w", err)
		}
		return t.cfg.Store.SetSetting(ctx, t.keyContents(r.key()), string(b))
	})
}

// forget drops the decision about an item.
func (t *Trust) forget(ctx context.Context, id string) error {
	return t.change(ctx, func(x index) (index, error) {
		for _, item := range t.items() {
			if item.ID == id {
				id = x.of(item, t.items()).ID // or that of the one whose place it took
				break
			}
		}
		return slices.DeleteFunc(x, func(r record) bool { return r.ID == id }), nil
	}, func() error { return nil })
}

// change changes the index, after what has to be stored first. The contents of what
// it drops are dropped with it.
func (t *Trust) change(ctx context.Context, change func(index) (index, error), first func() error) error {
	t.changing.Lock()
	defer t.changing.Unlock()
	before, err := t.load(ctx)
	if err != nil {
		return err
	}
	after, err := change(slices.Clone(before))
	if err != nil {
		return err
	}
	after = after[max(0, len(after)-maxRecords):]
	if err := first(); err != nil {
		return err
	}
	b, err := json.Marshal(after)
	if err != nil {
		return fmt.Errorf("keep what was decided: %w", err)
	}
	if err := t.cfg.Store.SetSetting(ctx, t.keyIndex(), string(b)); err != nil {
		return err
	}
	for _, r := range before {
		if r.Seal != "" && !slices.ContainsFunc(after, func(o record) bool { return o.key() == r.key() && o.Seal != "" }) {
			if err := t.cfg.Store.SetSetting(ctx, t.keyContents(r.key()), ""); err != nil {
				return err
			}
		}
	}
	return nil
}
