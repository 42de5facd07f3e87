// Package keymap keeps the keys that a person chose, in a file that can be written by hand: a
// preset and the keys of single commands. What a command or a key means is known to the page.
package keymap

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/moby/sys/atomicwriter"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/internal/regular"
)

const (
	name       = "keys.json"
	maxFile    = 64 << 10
	maxEntries = 200 // commands
	maxKeys    = 8   // of one command
	maxName    = 60  // bytes of a command or a key
)

// KeyChoice is what the file has.
type KeyChoice struct {
	// Preset names a set of keys; empty means the usual one.
	Preset string `json:"preset,omitempty"`
	// Keys are those of single commands, such as {"palette": ["Ctrl+K"]}. A command with none
	// has no key.
	Keys map[string][]string `json:"keys,omitempty"`
}

// KeyFile answers keymap.get and keymap.set.
type KeyFile struct {
	KeyChoice
	Path string `json:"path"`
	// Damaged says why the file cannot be read, so that the usual keys hold; empty if it can.
	Damaged string `json:"damaged,omitempty"`
}

// Keymap keeps the keys. It is safe for concurrent use.
type Keymap struct {
	path string
	mu   sync.Mutex // held while the file is written
}

// New returns the keys in the folder where Atelier keeps its data.
func New(home string) *Keymap { return &Keymap{path: filepath.Join(home, name)} }

// Register registers the methods of the page.
func (k *Keymap) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "keymap.get", k.Get)
	dispatch.Handle(d, "keymap.set", k.Set)
}

// Get reads the file. One that is damaged is as good as none, and says why.
func (k *Keymap) Get(context.Context, backend.Empty) (KeyFile, error) {
	file := KeyFile{Path: k.path}
	choice, err := k.read()
	if err != nil {
		file.Damaged = err.Error()
		return file, nil
	}
	file.KeyChoice = choice
	return file, nil
}

// Set replaces the file. One that is damaged stays, because a person may want to repair it.
func (k *Keymap) Set(_ context.Context, choice KeyChoice) (KeyFile, error) {
	if err := check(choice); err != nil {
		return KeyFile{}, backend.Problem(backend.ProblemArguments, "keymap.set").Because(err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	failed := func(err error) (KeyFile, error) {
		return KeyFile{}, backend.Problem(backend.ProblemKeysUnsaved, k.path).Because(err)
	}
	if _, err := k.read(); err != nil {
		return failed(err)
	}
	b, err := json.MarshalIndent(choice, "", "  ")
	if err != nil {
		return failed(err)
	}
	if err := atomicwriter.WriteFile(k.path, append(b, '\n'), 0o600); err != nil {
		return failed(err)
	}
	return KeyFile{KeyChoice: choice, Path: k.path}, nil
}

func (k *Keymap) read() (KeyChoice, error) {
	b, err := regular.Read(k.path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return KeyChoice{}, nil
	}
	if err != nil {
		return KeyChoice{}, err
	}
	var choice KeyChoice
	if err := json.Unmarshal(b, &choice); err != nil {
		return KeyChoice{}, err
	}
	return choice, check(choice)
}

var errLong = errors.New("there are too many keys, or too long ones")

func check(choice KeyChoice) error {
	if len(choice.Keys) > maxEntries || len(choice.Preset) > maxName {
		return errLong
	}
	for command, keys := range choice.Keys {
		if len(keys) > maxKeys || len(command) > maxName {
			return errLong
		}
		for _, key := range keys {
			if len(key) > maxName {
				return errLong
			}
		}
	}
	return nil
}
