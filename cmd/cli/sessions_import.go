package cli

import (
	"fmt"
	"path/filepath"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend/transfer"
	"atelier.dev/atelier/cmd/cli/output"
)

// importFlags are what atelier sessions import is told.
type importFlags struct {
	*sessionFlags
	claude, codex, list, again bool
	limit                      int
}

// importSessions makes sessions of files, or of other programs' transcripts.
func (c *command) importSessions(use string, args []string) int {
	f := importFlags{sessionFlags: c.sessionFlags(use)}
	f.BoolVar(&f.list, "list", false, "list the transcripts of other programs on this machine")
	f.BoolVar(&f.claude, "claude", false, "those of Claude Code")
	f.BoolVar(&f.codex, "codex", false, "those of Codex")
	f.BoolVar(&f.again, "again", false, "import what was imported before, as another session")
	f.IntVar(&f.limit, "limit", 50, "how many to list or import at most, the newest first (0: all)")
	if code, ok := c.parse(f.FlagSet, args); !ok {
		return code
	}
	switch {
	case f.limit < 0:
		return c.misused(f.FlagSet, "--limit is not negative")
	case f.list && f.NArg() > 0:
		return c.misused(f.FlagSet, "--list and a file exclude each other")
	case !f.list && !f.claude && !f.codex && f.NArg() == 0:
		return c.misused(f.FlagSet, "name a file, or --claude or --codex")
	}
	files := f.Args()
	for i, name := range files { // they are in the current folder, not in the project's
		path, err := filepath.Abs(name)
		if err != nil {
			return c.fail(err)
		}
		files[i] = path
	}
	return c.withApp(f.folder, func(a *app) error {
		for _, path := range files {
			if err := c.importOne(a, f, transfer.ImportRequest{Path: path}); err != nil {
				return err
			}
		}
		if f.list || f.claude || f.codex {
			return c.importFound(a, f)
		}
		return nil
	})
}

// wants reports whether a program's transcripts are meant; without a choice, all are.
func (f importFlags) wants(p agent.Program) bool {
	return !f.claude && !f.codex || f.claude && p == agent.ProgramClaudeCode || f.codex && p == agent.ProgramCodex
}

// importFound lists or imports the transcripts of other programs.
func (c *command) importFound(a *app, f importFlags) error {
	left, cut := most(f.limit), false
	for offset := 0; !cut && c.ctx.Err() == nil; {
		page, err := ask[transfer.FoundReply](c.ctx, a, "transcripts.found", transfer.FoundRequest{Offset: offset, Limit: 200})
		if err != nil {
			return err
		}
		for _, found := range page.Found {
			if !f.wants(found.Program) {
				continue
			}
			if cut = left == 0; cut {
				c.tellCut(f.limit)
				break
			}
			left--
			if f.list {
				err = c.printTranscript(f, found)
			} else {
				err = c.importOne(a, f, transfer.ImportRequest{Program: found.Program, Name: found.Name})
			}
			if err != nil {
				return err
			}
		}
		if offset += len(page.Found); len(page.Found) == 0 || offset >= page.Total {
			break
		}
	}
	return c.ctx.Err()
}

func (c *command) printTranscript(f importFlags, found transfer.FoundTranscript) error {
	if f.asJSON {
		return output.WriteJSON(c.out, found)
	}
	mark := ""
	if found.Session != "" {
		mark = "  (imported)"
	}
	_, err := fmt.Fprintf(c.out, "%s  %-14s  %s  %s%s\n", time.UnixMilli(found.At).Format("2006-01-02 15:04"), found.Program,
		output.OneLine(found.Folder), output.OneLine(found.Prompt), mark)
	return err
}

// importOne imports a transcript and says as what.
func (c *command) importOne(a *app, f importFlags, in transfer.ImportRequest) error {
	in.Again = f.again
	reply, err := a.Imports().Import(c.ctx, in)
	if err != nil {
		return err
	}
	if f.asJSON {
		return output.WriteJSON(c.out, reply)
	}
	if reply.Already {
		grown := ""
		if reply.Grown {
			grown = " It has grown since; --again imports it as another session."
		}
		_, err := fmt.Fprintf(c.out, "%s  %s was imported before.%s\n", reply.Session.ID, output.OneLine(reply.Session.Title), grown)
		return err
	}
	if n := reply.Session.Imported.Skipped; n > 0 {
		fmt.Fprintf(c.err, "Parts that were not understood: %d.\n", n)
	}
	if n := reply.Session.Imported.Pictures; n > 0 {
		fmt.Fprintf(c.err, "Pictures that were left out: %d.\n", n)
	}
	_, err = fmt.Fprintf(c.out, "%s  %s\n", reply.Session.ID, output.OneLine(reply.Session.Title))
	return err
}
