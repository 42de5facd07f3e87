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

// itemSet is the items that a folder has. It does not change.
type itemSet struct {
	all  []Item
	byID map[string]int  // the first of each id
	keys map[string]bool // of all items
}

func itemSetOf(all []Item) *itemSet {
	s := &itemSet{all: all, byID: map[string]int{}, keys: map[string]bool{}}
	for i, item := range all {
		if _, known := s.byID[item.ID]; !known {
			s.byID[item.ID] = i
		}
		s.keys[key(item)] = true
	}
	return s
}

// index is what was decided in a folder, the oldest first.
type index []record

// place is what an item is for, whatever its definition.
type place struct {
	kind         Kind
	origin, slot string
}

// table finds what was decided. It does not change.
type table struct {
	byKey   map[string]record
	byPlace map[place][]record // those that were accepted
}

func tableOf(x index) *table {
	t := &table{byKey: map[string]record{}, byPlace: map[place][]record{}}
	for _, r := range x {
		if _, known := t.byKey[r.key()]; !known {
			t.byKey[r.key()] = r
		}
		if at := (place{r.Kind, r.Origin, r.Slot}); r.Seal != "" {
			t.byPlace[at] = append(t.byPlace[at], r)
		}
	}
	return t
}

// of returns the decision about an item or, if there is none, the one about the
// accepted item whose place it took.
func (t *table) of(item Item, now *itemSet) record {
	if r, ok := t.byKey[key(item)]; ok {
		return r
	}
	for _, r := range t.byPlace[place{item.Kind, item.Origin, item.Slot}] {
		if !now.keys[r.key()] {
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
func (t *Trust) load(ctx context.Context) (reading, error) {
	text, err := t.cfg.Store.Setting(ctx, t.keyIndex())
	if err != nil || text == "" {
		return reading{table: tableOf(nil)}, err
	}
	t.mu.Lock()
	before := t.read
	t.mu.Unlock()
	if before.text == text {
		return before, nil
	}
	x, err := t.indexOf(text)
	if err != nil {
		return reading{table: tableOf(nil)}, err
	}
	now := reading{text, x, tableOf(x)}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.read = now
	return now, nil
}

func (t *Trust) indexOf(text string) (x index, err error) {
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &x); err != nil {
		return nil, backend.Problem(backend.ProblemSettingDamaged, t.keyIndex()).Because(err)
	}
	return x, nil
}

// reading is what was read last of the store. It does not change.
type reading struct {
	text  string
	index index
	table *table
}

// record returns what was decided about an item.
func (t *Trust) record(ctx context.Context, item Item) (record, error) {
	decided, err := t.load(ctx)
	return decided.table.of(item, t.items()), err
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

// keep stores a decision, unless the earlier one rules it out. The one about an item
// whose place this one took is dropped.
func (t *Trust) keep(ctx context.Context, item Item, r record, contents map[string]string, unless func(before record) error) error {
	r.Kind, r.ID, r.Title, r.Origin, r.Slot, r.At = item.Kind, item.ID, sandbox.Redact(item.Title), item.Origin, item.Slot, t.cfg.Now().UnixMilli()
	r.Scope = item.Scope
	return t.change(ctx, func(x index) (index, error) {
		before := tableOf(x).of(item, t.items())
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
		if item, err := t.item(id); err == nil {
			id = tableOf(x).of(item, t.items()).ID // or that of the one whose place it took
		}
		return slices.DeleteFunc(x, func(r record) bool { return r.ID == id }), nil
	}, func() error { return nil })
}

// change changes the index, after what has to be stored first. The contents of what
// it drops are dropped with it.
func (t *Trust) change(ctx context.Context, change func(index) (index, error), first func() error) error {
	t.changing.Lock()
	defer t.changing.Unlock()
	decided, err := t.load(ctx)
	if err != nil {
		return err
	}
	if _, err := change(slices.Clone(decided.index)); err != nil {
		return err
	}
	if err := first(); err != nil {
		return err
	}
	var before, after index
	err = t.cfg.Store.ChangeSetting(ctx, t.keyIndex(), func(text string) (string, error) {
		// Another process may have decided since.
		if before, err = t.indexOf(text); err != nil {
			return "", err
		}
		if after, err = change(slices.Clone(before)); err != nil {
			return "", err
		}
		after = after[max(0, len(after)-maxRecords):]
		b, err := json.Marshal(after)
		if err != nil {
			return "", fmt.Errorf("keep what was decided: %w", err)
		}
		return string(b), nil
	})
	if err != nil {
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
