package cli

import (
	"fmt"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/contexts"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/cmd/cli/output"
)

// sessionStates say what a session is doing.
var sessionStates = map[agent.State]string{
	agent.StateIdle: "at rest", agent.StateClosed: "at rest", agent.StateProcessing: "working", agent.StateAwaitingInput: "waits for you",
}

// listedStates are what --state can say.
var listedStates = map[string]agent.State{"waiting": agent.StateAwaitingInput, "working": agent.StateProcessing, "resting": agent.StateIdle}

// listSessions lists the sessions of a project, page after page.
func (c *command) listSessions(use string, args []string) int {
	f := c.listFlags(use)
	if code, ok := c.parse(f.FlagSet, args); !ok {
		return code
	}
	if f.NArg() > 0 {
		return c.misused(f.FlagSet, "list has no arguments")
	}
	if err := f.read(); err != nil {
		return c.misused(f.FlagSet, err.Error())
	}
	return c.withApp(f.folder, func(a *app) error {
		in := sessionlist.SessionListRequest{Filter: f.filter, Everywhere: f.everywhere}
		for left := most(f.limit); left > 0 && c.ctx.Err() == nil; {
			in.Limit = min(left, maxPage)
			page, err := ask[backend.SessionPage](c.ctx, a, "sessions.list", in)
			if err != nil {
				return err
			}
			for _, session := range page.Sessions {
				if session.Helper == nil {
					left--
				}
			}
			if err := c.printSessions(f.sessionFlags, a, page.Sessions...); err != nil {
				return err
			}
			if in.After = page.Next; in.After == nil {
				break
			}
		}
		if in.After != nil && c.ctx.Err() == nil {
			c.tellCut(f.limit)
		}
		return c.ctx.Err()
	})
}

// stateName says what a session is doing.
func stateName(session backend.SessionInfo) string {
	if session.Interrupted {
		return "interrupted"
	}
	return sessionStates[session.State]
}

// sessionLine is a session in one line.
func sessionLine(session backend.SessionInfo) string {
	at := time.UnixMilli(session.UpdatedAt).Format("2006-01-02 15:04")
	title := session.Title
	if title == "" {
		title = "(no title)"
	}
	if session.Helper != nil {
		title = "└ " + title
	}
	line := fmt.Sprintf("%s  %s  %-13s  %s", session.ID, at, stateName(session), output.OneLine(title))
	if session.Marks.Pinned {
		line += " (pinned)"
	}
	if session.Marks.Deleted > 0 {
		line += " (deleted)"
	} else if session.Marks.Archived {
		line += " (archived)"
	}
	for _, tag := range session.Marks.Tags {
		line += " #" + output.OneLine(tag)
	}
	return line
}

// showSession shows a session, and its messages if they are asked for.
func (c *command) showSession(use string, args []string) int {
	f := c.sessionFlags(use)
	limit := f.Int("limit", 0, "print this many messages: the newest, or those after --offset (default with --offset: 50)")
	offset := f.Int("offset", 0, "print messages after so many")
	filled := f.Bool("context", false, "say what fills the context, and what the session used")
	if code, ok := c.parse(f.FlagSet, args); !ok {
		return code
	}
	if f.NArg() != 1 {
		return c.misused(f.FlagSet, "name one session")
	}
	if *limit < 0 || *offset < 0 {
		return c.misused(f.FlagSet, "--limit and --offset are not negative")
	}
	return c.withSession(f, f.Arg(0), func(a *app, session backend.SessionInfo) error {
		if *filled {
			report, err := ask[contexts.ContextReport](c.ctx, a, "context.report", contexts.ContextRequest{Session: session.ID})
			if err != nil {
				return err
			}
			return report.Print(c.out, f.asJSON)
		}
		if err := c.printSessions(f, a, session); err != nil {
			return err
		}
		in := workbench.LoadRequest{Session: session.ID, Limit: *limit}
		if f.Changed("offset") {
			in.Offset = offset
		}
		if *limit == 0 && in.Offset == nil {
			return nil
		}
		reply, err := a.Load(c.ctx, in)
		if err != nil {
			return err
		}
		return c.printMessages(f, session, reply)
	})
}

// printMessages prints messages of a session.
func (c *command) printMessages(f *sessionFlags, session backend.SessionInfo, reply workbench.LoadReply) error {
	for i, ev := range reply.Messages {
		if f.asJSON {
			if err := output.WriteJSON(c.out, ev); err != nil {
				return err
			}
			continue
		}
		who, text := "you", ""
		switch d := ev.Data.(type) {
		case agent.UserInput:
			text = d.Text
		case agent.TextEnd:
			who, text = d.Model, d.Message.Text()
			for _, call := range d.Message.Calls() {
				text += "\n· " + output.OneLine(call.Name)
			}
		}
		if session.TookBack(ev.Seq) {
			who += ", rewound"
		}
		at := time.UnixMilli(ev.At).Format("2006-01-02 15:04")
		if _, err := fmt.Fprintf(c.out, "\n%d/%d  %s  %s\n%s\n", reply.Offset+i+1, reply.Total, at, output.OneLine(who), strings.TrimLeft(text, "\n")); err != nil {
			return err
		}
	}
	return nil
}

// renameSession gives a session a title.
func (c *command) renameSession(use string, args []string) int {
	f := c.sessionFlags(use)
	if code, ok := c.parse(f.FlagSet, args); !ok {
		return code
	}
	if f.NArg() < 2 {
		return c.misused(f.FlagSet, "name one session and its title")
	}
	title := strings.Join(f.Args()[1:], " ")
	return c.withSession(f, f.Arg(0), func(a *app, session backend.SessionInfo) error {
		renamed, err := ask[backend.SessionInfo](c.ctx, a, "sessions.rename", sessionlist.RenameRequest{Session: session.ID, Title: title})
		if err != nil {
			return err
		}
		return c.printSession(f, renamed)
	})
}

// sizedSession is a session with the bytes that its log takes.
type sizedSession struct {
	backend.SessionInfo
	LogSize int64 `json:"log_size"`
}

// printSessions prints sessions, as JSON with the sizes of their logs.
func (c *command) printSessions(f *sessionFlags, a *app, sessions ...backend.SessionInfo) error {
	sizes := map[string]int64{}
	if f.asJSON {
		ids := make([]string, 0, len(sessions))
		for _, session := range sessions {
			ids = append(ids, session.ID)
		}
		var err error
		if sizes, err = a.store.LogSizes(c.ctx, ids...); err != nil {
			return err
		}
	}
	for _, session := range sessions {
		var err error
		if f.asJSON {
			err = output.WriteJSON(c.out, sizedSession{session, sizes[session.ID]})
		} else {
			err = c.printSession(f, session)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// printSession prints a session as it is now.
func (c *command) printSession(f *sessionFlags, session backend.SessionInfo) error {
	if f.asJSON {
		return output.WriteJSON(c.out, session)
	}
	line := sessionLine(session)
	if f.everywhere {
		line += "  " + output.OneLine(session.Folder)
	}
	_, err := fmt.Fprintln(c.out, line)
	return err
}
