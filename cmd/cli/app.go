package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/backend/projects"
	"atelier.dev/atelier/backend/recent"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/cmd/cli/output"
	"atelier.dev/atelier/storage"
	"atelier.dev/atelier/storage/keystore"
	"atelier.dev/atelier/storage/search"
)

// askPatience limits how long a later start waits for the first one's answer.
const askPatience = 5 * time.Second

// openPatience limits how long another folder may take to open, and maxAsked how
// often its process is asked for an answer.
const (
	openPatience = 20 * time.Second
	maxAsked     = 10
)

// app is the opened application: a workbench and its database.
type app struct {
	*workbench.Workbench
	store *storage.Store
	index *search.Index
	// verified is closed once the database was checked as a whole; stop ends that.
	verified chan struct{}
	stop     context.CancelFunc
	// leave ends the keeping of hosts; saved is closed then.
	leave context.CancelFunc
	saved <-chan struct{}
}

var _ Host = (*app)(nil)

// places returns the project folder, by default the current one, and the folder
// where Atelier keeps its data.
func (c *command) places(dir string) (folder, home string, err error) {
	if dir == "" {
		dir = "."
	}
	if folder, err = projects.Resolve(dir); err != nil {
		return "", "", err
	}
	home, err = c.home()
	return folder, home, err
}

func (c *command) home() (string, error) {
	if home := c.getenv("ATELIER_HOME"); home != "" {
		return filepath.Abs(home)
	}
	if data := c.getenv("XDG_DATA_HOME"); filepath.IsAbs(data) && runtime.GOOS == "linux" {
		return filepath.Join(data, "atelier"), nil
	}
	if user := c.getenv("HOME"); user != "" && runtime.GOOS == "linux" {
		return filepath.Join(user, ".local", "share", "atelier"), nil
	}
	config, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find a place for Atelier's data: %w; set ATELIER_HOME", err)
	}
	return filepath.Join(config, "Atelier"), nil
}

func (c *command) config(folder, home string) workbench.Config {
	return workbench.Config{Folder: folder, Home: home, Version: Version, Getenv: c.getenv, Retry: llm.DefaultRetries}
}

// newApp opens the database and builds the application on it. Sessions of other
// processes stay as they are.
func newApp(ctx context.Context, cfg workbench.Config) (*app, error) {
	store, err := storage.Open(ctx, cfg.Home)
	if err != nil {
		return nil, err
	}
	cfg.Store, cfg.Keys = store, keystore.New(cfg.Home)
	index := search.Open(cfg.Home, store.Logs())
	cfg.Search = index
	a := &app{Workbench: workbench.New(cfg), store: store, index: index}
	saving, leave := context.WithCancel(context.Background())
	a.leave, a.saved = leave, output.KeepHosts(saving, cfg.Home)
	return a, nil
}

// openForSessions is openApp for a program in which sessions run: what they need is
// made meanwhile. provider is whose model will be asked; empty if that is not known.
func openForSessions(ctx context.Context, cfg workbench.Config, provider string) (*app, error) {
	cfg.Prepared = workbench.Prepare(cfg.Home, provider)
	return openApp(ctx, cfg)
}

// openApp opens the application, and recovers sessions if somebody is there to see
// the results.
func openApp(ctx context.Context, cfg workbench.Config) (*app, error) {
	a, err := newApp(ctx, cfg)
	if err != nil {
		cfg.Prepared.Wait()
		return nil, err
	}
	if !cfg.Unattended {
		a.verify()
		if err := a.Recover(ctx); err != nil {
			return nil, errors.Join(err, a.Close(ctx))
		}
		if err := recent.Add(cfg.Home, cfg.Folder, time.Now()); err != nil {
			slog.Warn("could not remember that the project was opened", "error", err)
		}
	}
	return a, nil
}

// verify checks the database while it is used. The page asks what was found.
func (a *app) verify() {
	ctx, cancel := context.WithCancel(context.Background())
	a.stop, a.verified = cancel, make(chan struct{})
	go func() {
		defer close(a.verified)
		if err := a.store.Verify(ctx); err != nil && ctx.Err() == nil {
			slog.Error("the database is damaged", "error", err)
		}
	}()
}

// Close implements [Host]. It ends everything that a session started.
func (a *app) Close(ctx context.Context) error {
	if a.stop != nil {
		a.stop()
		<-a.verified
	}
	err := a.Workbench.Close(ctx)
	sandbox.Shutdown()
	a.leave()
	<-a.saved
	return errors.Join(err, a.index.Close(), a.store.Close())
}

// maxLog is the size at which a new log begins; one old log is kept.
const maxLog = 4 << 20

// logTo sends the program's log to a file that only the user can read. With
// LOG_LEVEL=debug it also records what tools do to files and when they run
// commands.
func (c *command) logTo(home string) (close func()) {
	dir := filepath.Join(home, "logs")
	path := filepath.Join(dir, "atelier.log")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return func() {} // the log then goes to stderr, as by default
	}
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		_ = os.Rename(path, path+".1")
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return func() {}
	}
	level := slog.LevelInfo
	if text := c.getenv("LOG_LEVEL"); text != "" {
		_ = level.UnmarshalText([]byte(text)) // an unknown level, such as another program's, changes nothing
	}
	slog.SetDefault(slog.New(slog.NewTextHandler(f, &slog.HandlerOptions{Level: level})))
	return func() { _ = f.Close() }
}
