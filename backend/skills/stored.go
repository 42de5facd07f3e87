package skills

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"atelier.dev/atelier/backend"
)

// The keys of what the user's own data keeps.
const (
	keySwitched = "skills.off"
	keyUsed     = "skills.used"
)

// Limits of what is kept; the oldest is forgotten.
const (
	maxSwitched = 2000
	maxUsed     = 1000
)

// switches are the ids of the skills that the user switched off.
type switches []string

func (x switches) isOff(id string) bool { return slices.Contains(x, id) }

func (s *Skills) switches(ctx context.Context) (switches, error) {
	var off switches
	err := stored(ctx, s.cfg.Store, keySwitched, &off) // which another process may have changed
	return off, err
}

// stored reads a stored value; it leaves it as it is if there is none.
func stored(ctx context.Context, store backend.Settings, key string, value any) error {
	text, err := store.Setting(ctx, key)
	if err != nil {
		return err
	}
	return decoded(key, text, value)
}

// decoded reads a stored text; an empty one leaves the value as it is.
func decoded(key, text string, value any) error {
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), value); err != nil {
		return backend.Problem(backend.ProblemSettingDamaged, key).Because(err)
	}
	return nil
}

// Switch is skills.switch.
func (s *Skills) Switch(ctx context.Context, in SkillSwitchRequest) (backend.Empty, error) {
	if _, _, err := s.find(ctx, in.ID); err != nil {
		return backend.Empty{}, err
	}
	if err := s.turn(ctx, in); err != nil {
		return backend.Empty{}, err
	}
	return backend.Empty{}, s.again()
}

func (s *Skills) turn(ctx context.Context, in SkillSwitchRequest) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	return s.cfg.Store.ChangeSetting(ctx, keySwitched, func(text string) (string, error) {
		var off switches
		if err := decoded(keySwitched, text, &off); err != nil {
			return "", err
		}
		off = slices.DeleteFunc(off, func(id string) bool { return id == in.ID })
		if !in.On {
			off = append(off, in.ID)
		}
		b, err := json.Marshal(off[max(0, len(off)-maxSwitched):])
		if err != nil {
			return "", fmt.Errorf("keep which skills are off: %w", err)
		}
		return string(b), nil
	})
}

// used says when a skill was used last, in milliseconds since 1970, and how often.
type used struct {
	Last  int64 `json:"last"`
	Count int   `json:"count"`
}

// uses keeps when skills were used. A goroutine of its own stores them, so that no session
// waits for the disk.
type uses struct {
	store backend.Settings

	mu    sync.Mutex
	noted map[string]used // that is not stored yet, by id
	wake  chan struct{}
	begin sync.Once
	end   chan struct{}
	ended chan struct{}
}

func newUses(store backend.Settings) *uses {
	return &uses{store: store, noted: map[string]used{}, wake: make(chan struct{}, 1), end: make(chan struct{}), ended: make(chan struct{})}
}

// add takes note of a use.
func (u *uses) add(id string, at time.Time) {
	u.mu.Lock()
	u.noted[id] = used{max(u.noted[id].Last, at.UnixMilli()), u.noted[id].Count + 1}
	u.mu.Unlock()
	u.begin.Do(func() { go u.run() })
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

func (u *uses) run() {
	defer close(u.ended)
	for {
		select {
		case <-u.wake:
			if err := u.write(context.Background()); err != nil {
				slog.Warn("uses of skills were not stored", "err", err)
			}
		case <-u.end:
			return
		}
	}
}

// close stores what is left.
func (u *uses) close(ctx context.Context) error {
	u.begin.Do(func() { close(u.ended) })
	select {
	case <-u.end: // it was closed before
	default:
		close(u.end)
	}
	<-u.ended
	return u.write(ctx)
}

// all returns the uses of skills, by id, with what is not stored yet.
func (u *uses) all(ctx context.Context) (map[string]used, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.merged(ctx)
}

func (u *uses) merged(ctx context.Context) (map[string]used, error) {
	all := map[string]used{}
	if err := stored(ctx, u.store, keyUsed, &all); err != nil {
		return nil, err
	}
	for id, n := range u.noted {
		all[id] = used{max(all[id].Last, n.Last), all[id].Count + n.Count}
	}
	return all, nil
}

// write stores what was noted, on top of what another process may have stored.
func (u *uses) write(ctx context.Context) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.noted) == 0 {
		return nil
	}
	all, err := u.merged(ctx)
	if err != nil {
		return err
	}
	ids := slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Or(cmp.Compare(all[a].Last, all[b].Last), cmp.Compare(a, b)) })
	for _, id := range ids[:max(0, len(ids)-maxUsed)] {
		delete(all, id)
	}
	b, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("keep when skills were used: %w", err)
	}
	if err := u.store.SetSetting(ctx, keyUsed, string(b)); err != nil {
		return err
	}
	clear(u.noted)
	return nil
}
