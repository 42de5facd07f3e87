package unsent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"atelier.dev/atelier/backend"
)

const (
	// maxBytes limits all texts of a folder, and maxTexts their number.
	maxBytes = 4 << 20
	maxTexts = 200
	// maxKey limits the name of a text, in bytes.
	maxKey = 500
)

// errFull says that a text is not kept. The page keeps it itself.
var errFull = errors.New("there is no room for more unsent texts")

// Text is an unsent text of the user.
type Text struct {
	// Key is KIND:OWNER, or KIND:OWNER/PART, where the owner is a session or a folder.
	Key string `json:"key"`
	// Text is empty once it was sent or deleted.
	Text string `json:"text"`
	// Revision grows with every change of any text.
	Revision int64 `json:"revision"`
}

// Texts are the unsent texts of a folder. Its methods are safe for concurrent use.
type Texts struct {
	store  backend.Settings
	folder string
}

// New returns the texts of a folder.
func New(store backend.Settings, folder string) *Texts {
	return &Texts{store: store, folder: folder}
}

// All returns the texts in no order, the empty ones among them.
func (t *Texts) All(ctx context.Context) ([]Text, error) {
	all, err := t.read(ctx)
	return slices.Collect(maps.Values(all)), err
}

// Set changes a text of which the caller knows a revision, 0 if it knows none. If
// another page has changed it since, it stays as it is and taken is false. now is
// the text as it is kept.
func (t *Texts) Set(ctx context.Context, text Text) (now Text, taken bool, err error) {
	if len(text.Key) > maxKey {
		return text, false, errFull
	}
	err = t.change(ctx, func(all map[string]Text) error {
		before := all[text.Key]
		if before.Revision != text.Revision && before.Text != text.Text {
			now = before
			return nil
		}
		taken = true
		if now = before; before.Text == text.Text {
			return nil
		}
		now = Text{text.Key, text.Text, newest(all) + 1}
		all[text.Key] = now
		return bounded(all)
	})
	return now, taken, err
}

// Forget deletes the texts of sessions that no longer exist.
func (t *Texts) Forget(ctx context.Context, sessions ...string) error {
	return t.change(ctx, func(all map[string]Text) error {
		maps.DeleteFunc(all, func(key string, _ Text) bool {
			_, owner, _ := strings.Cut(key, ":")
			id, _, _ := strings.Cut(owner, "/")
			return slices.Contains(sessions, id)
		})
		return nil
	})
}

func newest(all map[string]Text) (revision int64) {
	for _, text := range all {
		revision = max(revision, text.Revision)
	}
	return revision
}

// bounded drops the oldest empty texts beyond the limit. They tell other pages that
// a text is gone.
func bounded(all map[string]Text) error {
	size := 0
	var empty []Text
	for key, text := range all {
		size += len(key) + len(text.Text)
		if text.Text == "" {
			empty = append(empty, text)
		}
	}
	slices.SortFunc(empty, func(a, b Text) int { return int(a.Revision - b.Revision) })
	for len(all) > maxTexts && len(empty) > 1 {
		delete(all, empty[0].Key)
		empty = empty[1:]
	}
	if len(all) > maxTexts || size > maxBytes {
		return errFull
	}
	return nil
}

// errSame ends a change that changes nothing.
var errSame = errors.New("nothing changed")

// change changes the texts in one step. Damaged ones are as good as none.
func (t *Texts) change(ctx context.Context, change func(all map[string]Text) error) error {
	step := func(stored string) (string, error) {
		all := textsOf(stored)
		before := maps.Clone(all)
		if err := change(all); err != nil {
			return "", err
		}
		if maps.Equal(before, all) {
			return "", errSame
		}
		b, err := json.Marshal(slices.Collect(maps.Values(all)))
		if err != nil {
			return "", fmt.Errorf("encode unsent texts: %w", err)
		}
		return string(b), nil
	}
	err := t.store.ChangeSetting(ctx, t.setting(), step)
	if isDamaged(err) {
		if err = t.store.SetSetting(ctx, t.setting(), ""); err == nil {
			err = t.store.ChangeSetting(ctx, t.setting(), step)
		}
	}
	if errors.Is(err, errSame) {
		return nil
	}
	return err
}

func isDamaged(err error) bool {
	var e *backend.Error
	return errors.As(err, &e) && e.Code == backend.CodeStoreCorrupt
}

func (t *Texts) setting() string { return "unsent:" + t.folder }

// read returns the texts by their keys. Damaged ones are as good as none.
func (t *Texts) read(ctx context.Context) (map[string]Text, error) {
	stored, err := t.store.Setting(ctx, t.setting())
	if err != nil && !isDamaged(err) {
		return nil, err
	}
	return textsOf(stored), nil
}

func textsOf(stored string) map[string]Text {
	all := map[string]Text{}
	var list []Text
	if json.Unmarshal([]byte(stored), &list) == nil {
		for _, text := range list {
			all[text.Key] = text
		}
	}
	return all
}
