package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/agent/sandbox/confine"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/models"
	"atelier.dev/atelier/cmd/cli/output"
	"atelier.dev/atelier/storage"
)

// checkup is the result of atelier doctor.
type checkup struct {
	OK      bool    `json:"ok"`
	Version string  `json:"version"`
	Checks  []check `json:"checks"`
}

// check is one result.
type check struct {
	Kind  string `json:"kind"` // "database", "models", "provider", "tool" or "sandbox"
	Name  string `json:"name"`
	State state  `json:"state"`
	// Detail says what was found, Next what to do about it.
	Detail string `json:"detail"`
	Next   string `json:"next,omitempty"`
	// Model is the model of new sessions, if they use this provider.
	Model string `json:"model,omitempty"`
	fatal bool   // Atelier cannot work if this failed
	// extra is what a rarely used provider lacks; such providers share a line.
	extra string
}

// state is the outcome of a check.
type state string

const (
	stateOK     state = "ok"
	stateOff    state = "off" // not configured or not installed, which is not an error
	stateFailed state = "failed"
)

// doctor reports what is configured and reachable. It fails if Atelier could
// not work: without its database, or with a provider that does not answer.
func (c *command) doctor(args []string) int {
	flags := c.flags("atelier doctor [--json] [--repair [--yes]]")
	asJSON := flags.Bool("json", false, "print one JSON object")
	repair := flags.Bool("repair", false, "copy the database, then make it anew from every row that can be read")
	yes := flags.Bool("yes", false, "repair without asking")
	if code, ok := c.parse(flags, args); !ok {
		return code
	}
	if flags.NArg() > 0 {
		return c.misused(flags, "doctor takes no arguments")
	}
	if *repair {
		return c.repair(*yes)
	}
	folder, home, err := c.places("")
	if err != nil {
		return c.fail(err)
	}
	defer c.logTo(home)()
	found := checkup{OK: true, Version: Version, Checks: append(c.checkApp(folder, home), append(checkTools(), c.checkSandbox())...)}
	for _, ch := range found.Checks {
		found.OK = found.OK && (ch.State != stateFailed || !ch.fatal)
	}
	if *asJSON {
		err = output.WriteJSON(c.out, found)
	} else {
		err = found.print(c)
	}
	if err != nil || !found.OK {
		return exitFailed
	}
	return exitDone
}

// checkApp opens the application and checks what it needs.
func (c *command) checkApp(folder, home string) (checks []check) {
	database := check{Kind: "database", Name: "database", State: stateOK, Detail: filepath.Join(home, storage.File), fatal: true}
	cfg := c.config(folder, home)
	cfg.Unattended = true
	app, err := openApp(c.ctx, cfg)
	if err != nil {
		return []check{database.failed(err)}
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), closePatience)
		defer cancel()
		if err := app.Close(ctx); err != nil {
			checks = append(checks, database.failed(err))
		}
	}()
	checks = []check{database.sound(c.ctx, app.store)}
	if err := app.CheckModels(); err != nil {
		checks = append(checks, check{Kind: "models", Name: models.ModelsFile}.failed(err))
	}
	providers, err := app.CheckProviders(c.ctx)
	if err != nil {
		return append(checks, check{Kind: "provider", Name: "keys", fatal: true}.failed(err))
	}
	chosen := false
	for _, p := range providers {
		checks = append(checks, checkProvider(p))
		chosen = chosen || p.Model != ""
	}
	if !chosen {
		checks = append(checks, check{Kind: "provider", Name: "demo", State: stateOK, Detail: "the offline script", Model: "tour"})
	}
	return checks
}

func (ch check) failed(err error) check {
	e := backend.AsError(err)
	ch.State, ch.Detail, ch.Next = stateFailed, e.Message, e.Next
	return ch
}

func checkProvider(p models.ProviderCheck) check {
	ch := check{Kind: "provider", Name: p.Provider, Model: p.Model, fatal: p.Model != ""}
	if !p.Configured {
		ch.State, ch.Detail, ch.Next = stateOff, "not set up", "Set "+p.Variable+" to use it."
		if !p.Vendor {
			ch.extra = p.Variable
		}
		if p.Local {
			ch.Detail, ch.Next, ch.extra = "not running", "Start it, or set "+p.Variable+".", "not running"
		}
		return ch
	}
	facts := []string{"no key"}
	if p.Source != "" {
		facts[0] = fmt.Sprintf("key from the %s", p.Source)
	}
	if p.BaseURL != "" {
		facts = append(facts, p.BaseURL)
	}
	if p.Local {
		facts = append(facts, "found running")
	}
	conn := p.Connection
	if conn.Reachable {
		facts = append(facts, fmt.Sprintf("answers in %d ms", conn.DurationMs), fmt.Sprintf("%d models", conn.Models))
	}
	ch.State, ch.Detail = stateFailed, strings.Join(facts, ", ")+"."
	if conn.Problem != nil {
		ch.Detail, ch.Next = ch.Detail+" "+conn.Problem.Message, conn.Problem.Next
	}
	if conn.Reachable {
		ch.State = stateOK
	}
	return ch
}

// checkTools looks for the programs that Atelier uses.
func checkTools() []check {
	shell := "bash"
	if runtime.GOOS == "windows" {
		shell = "cmd.exe"
	}
	var checks []check
	for _, tool := range []struct{ name, without string }{
		{shell, "Commands cannot be run without it."},
		{"rg", "Searching is done by Atelier itself, more slowly."},
		{"git", "The agent cannot look at a project's history."},
	} {
		ch := check{Kind: "tool", Name: tool.name, State: stateOK, Detail: sandbox.LookPath(tool.name)}
		if ch.Detail == "" {
			ch.State, ch.Detail, ch.Next = stateOff, "not found", tool.without
		}
		checks = append(checks, ch)
	}
	return checks
}

// checkSandbox tries how far commands can be confined.
func (c *command) checkSandbox() check {
	level := sandbox.Confinement(c.ctx, false)
	ch := check{Kind: "sandbox", Name: "sandbox", State: stateOK, Detail: level.Sentence()}
	if level.Holds() {
		ch.Detail += " The mode auto runs them so, without asking."
	} else {
		ch.Detail += " The mode auto asks about each command that does more than read."
	}
	if level.By == confine.Landlock {
		ch.Next = "Landlock takes the place of namespaces, because " + level.Detail
	}
	if !level.Works() {
		ch.State = stateOff
		if level.Lack == confine.LackMissing {
			ch.Next = "Use a build that has the launcher, as scripts/build.sh makes it."
		}
	}
	return ch
}

// print writes the results as lines.
func (r checkup) print(c *command) error {
	var errs []error
	line := func(name, state, text string) {
		_, err := fmt.Fprintf(c.out, "%-10s %-7s %s\n", name, state, text)
		errs = append(errs, err)
	}
	line("atelier", "", r.Version)
	var more []string
	for _, ch := range r.Checks {
		if ch.extra != "" {
			more = append(more, fmt.Sprintf("%s (%s)", ch.Name, ch.extra))
			continue
		}
		line(ch.Name, string(ch.State), ch.Detail)
		if ch.Model != "" {
			line("", "", "New sessions use "+ch.Model+".")
		}
		if ch.Next != "" {
			line("", "", ch.Next)
		}
	}
	if len(more) > 0 {
		line("others", string(stateOff), "not set up: "+strings.Join(more, ", "))
	}
	return errors.Join(errs...)
}
