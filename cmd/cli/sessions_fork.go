package cli

import (
	"fmt"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/catalogue"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/cmd/cli/output"
)

// forkFlags are what atelier sessions fork is told.
type forkFlags struct {
	at                      agent.ForkPlace
	inWorktree, inProject   bool
	model, id, title, label string
	*sessionFlags
}

// forkSession forks a session.
func (c *command) forkSession(use string, args []string) int {
	f := forkFlags{sessionFlags: c.sessionFlags(use)}
	f.IntVar(&f.at.Messages, "messages", 0, "keep this many messages, inputs and answers together (0: all)")
	f.Int64Var(&f.at.Event, "at", 0, "fork at the event with this number (seq): before an input, after an answer")
	f.BoolVar(&f.inWorktree, "worktree", false, "let the fork work in a git worktree of its own")
	f.BoolVar(&f.inProject, "project", false, "let the fork work in the project, if the session has a worktree")
	f.StringVar(&f.model, "model", "", "PROVIDER/ID of another model")
	f.StringVar(&f.id, "id", "", "id of the fork (default: made up)")
	f.StringVar(&f.title, "title", "", "title of the fork")
	f.StringVar(&f.label, "label", "", "label of the branch")
	if code, ok := c.parse(f.FlagSet, args); !ok {
		return code
	}
	switch {
	case f.NArg() != 1:
		return c.misused(f.FlagSet, "name one session")
	case f.inWorktree && f.inProject:
		return c.misused(f.FlagSet, "--worktree and --project exclude each other")
	case f.at.Event != 0 && f.at.Messages != 0:
		return c.misused(f.FlagSet, "--at and --messages exclude each other")
	case !modelRef(f.model):
		return c.misused(f.FlagSet, "--model needs PROVIDER/ID")
	}
	return c.withSession(f.sessionFlags, f.Arg(0), func(a *app, session backend.SessionInfo) error {
		made, err := a.ForkSession(c.ctx, f.request(session))
		if err != nil {
			return err
		}
		if made.Prompt != "" && !f.asJSON {
			fmt.Fprintf(c.err, "The fork ends before this input: %s\n", output.OneLine(made.Prompt))
		}
		if f.inWorktree && !f.asJSON {
			fmt.Fprintf(c.err, "The worktree %s begins with the last commit: changes that are not committed are not in it.\n", output.OneLine(made.Session.Worktree))
			fmt.Fprintf(c.err, "Ignored files that were copied, because .worktreeinclude names them: %d\n", made.Included)
		}
		return c.printSession(f.sessionFlags, made.Session)
	})
}

func (f *forkFlags) request(session backend.SessionInfo) workbench.ForkRequest {
	in := workbench.ForkRequest{Session: session.ID, NewID: f.id, At: f.at, Title: f.title, Label: f.label}
	switch {
	case f.inWorktree:
		in.Folder = workbench.ForkInWorktree
	case f.inProject:
		in.Folder = workbench.ForkInProject
	}
	if f.model != "" {
		set := session.Settings
		set.Provider, set.Model, _ = catalogue.ParseRef(f.model) // modelRef has read it
		if set.Mode == agent.ModeBypass {
			set.Mode = agent.ModeDefault
		}
		in.Settings = &set
	}
	return in
}
