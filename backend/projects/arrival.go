package projects

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"atelier.dev/atelier/backend"
)

// arrivalTime is how long a project that was opened at a place may take to show it.
// After that, the user no longer expects to be taken there.
const arrivalTime = time.Minute

// Arrival is a place in another project's session, which the user chose before that
// project was opened. Words are marked there.
type Arrival struct {
	Session string            `json:"session"`
	Hit     backend.SearchHit `json:"hit"`
	Words   []string          `json:"words,omitempty"`
	// At is when it was chosen, in milliseconds since 1970.
	At int64 `json:"at"`
}

// ArrivalReply answers projects.arrive; nil if nobody is expected.
type ArrivalReply struct {
	Arrival *Arrival `json:"arrival,omitempty"`
}

func arrivalKey(folder string) string { return "arrival " + folder }

// expect tells the page that opens a folder next where to go. The store is what all
// projects share: neither a start nor a request of another process carries a place.
func (p *Projects) expect(ctx context.Context, folder string, a *Arrival) error {
	if a == nil {
		return nil
	}
	a.At = time.Now().UnixMilli()
	b, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("write where to go: %w", err)
	}
	return p.cfg.Store.SetSetting(ctx, arrivalKey(folder), string(b))
}

// arrive is projects.arrive: where the page that asks first goes. It is told once.
func (p *Projects) arrive(ctx context.Context, _ backend.Empty) (ArrivalReply, error) {
	key := arrivalKey(p.cfg.Folder)
	text, err := p.cfg.Store.Setting(ctx, key)
	if err != nil || text == "" {
		return ArrivalReply{}, err
	}
	if err := p.cfg.Store.SetSetting(ctx, key, ""); err != nil {
		return ArrivalReply{}, err
	}
	var a Arrival
	if json.Unmarshal([]byte(text), &a) != nil || time.Since(time.UnixMilli(a.At)).Abs() > arrivalTime {
		return ArrivalReply{}, nil // of another version, or too late
	}
	return ArrivalReply{&a}, nil
}
