package desktop

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"atelier.dev/atelier/backend/instance"
	"github.com/moby/sys/atomicwriter"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/runtime"
)

// The window's smallest and initial sizes, in pixels.
const (
	minWidth, minHeight     = 640, 480
	firstWidth, firstHeight = 1280, 800
	sanest                  = 20_000 // a larger number is a mistake
)

// windowState is the state of a project's window when it was last closed. Size
// and position are those of the window when it is not maximised.
type windowState struct {
	X, Y          int
	Width, Height int
	Placed        bool // X and Y are known
	Maximised     bool
}

// loadWindowState returns the stored state, or the initial one if there is none
// or it is invalid.
func loadWindowState(home, folder string) windowState {
	first := windowState{Width: firstWidth, Height: firstHeight}
	path, err := stateFile(home, folder)
	if err != nil {
		return first
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return first
	}
	var kept windowState
	if json.Unmarshal(b, &kept) != nil || !kept.sane() {
		return first
	}
	return kept
}

func (s windowState) sane() bool {
	within := func(v, least int) bool { return v >= least && v <= sanest }
	return within(s.Width, minWidth) && within(s.Height, minHeight) && within(s.X, -sanest) && within(s.Y, -sanest)
}

func (s windowState) save(home, folder string) error {
	path, err := stateFile(home, folder)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("create the windows' folder: %w", err)
	}
	b, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode window state: %w", err)
	}
	if err := atomicwriter.WriteFile(path, b, 0o600); err != nil {
		return fmt.Errorf("write window state: %w", err)
	}
	return nil
}

func stateFile(home, folder string) (string, error) {
	key, err := instance.Key(folder)
	if err != nil {
		return "", err
	}
	return filepath.Join(home, "windows", key+".json"), nil
}

func (s windowState) startState() options.WindowStartState {
	if s.Maximised {
		return options.Maximised
	}
	return options.Normal
}

// place moves the window to its last position, because Wails centres it at its
// start. A position that no monitor shows is ignored.
func (s windowState) place() {
	if s.Placed && !s.Maximised {
		moveWindow(s.X, s.Y)
	}
}

// capture returns the current state of the window.
func (s windowState) capture(ctx context.Context) windowState {
	if s.Maximised = runtime.WindowIsMaximised(ctx); !s.Maximised {
		s.Width, s.Height = runtime.WindowGetSize(ctx)
		s.X, s.Y = runtime.WindowGetPosition(ctx)
		s.Placed = true
	}
	return s
}
