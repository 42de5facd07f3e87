package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/backend/authors"
	"atelier.dev/atelier/backend/filechanges"
	"atelier.dev/atelier/cmd/cli/output"
)

// blame prints the lines of a file with the session, turn, model and cost that wrote
// each.
func (c *command) blame(args []string) int {
	flags := c.flags("atelier blame [flags] FILE")
	folder := flags.StringP("directory", "C", "", "project folder (default: the current one)")
	lines := flags.StringP("lines", "L", "", "only these lines, as FROM,TO")
	asJSON := flags.Bool("json", false, "print one JSON object for each run of lines, with its prompt")
	if code, ok := c.parse(flags, args); !ok {
		return code
	}
	if flags.NArg() != 1 {
		return c.misused(flags, "name one file")
	}
	in := filechanges.BlameRequest{Texts: !*asJSON}
	var ok bool
	if in.From, in.To, ok = lineRange(*lines); !ok {
		return c.misused(flags, "--lines is FROM,TO, such as 10,20")
	}
	project, _, err := c.places(*folder)
	if err != nil {
		return c.fail(err)
	}
	in.Path = nameIn(project, flags.Arg(0))
	return c.withApp(*folder, func(a *app) error { return printBlame(c.ctx, a, in, c.out) })
}

// nameIn returns the name of a file relative to a folder, as lists show it.
func nameIn(folder, file string) string {
	if filepath.IsAbs(file) {
		if dir, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil {
			file = filepath.Join(dir, filepath.Base(file))
		}
		if name, err := filepath.Rel(folder, file); err == nil {
			file = name
		}
	}
	return changes.Quote(filepath.ToSlash(file))
}

// lineRange reads a range of lines, of which either end may be missing.
func lineRange(text string) (from, to int, ok bool) {
	if text == "" {
		return 0, 0, true
	}
	first, last, two := strings.Cut(text, ",")
	if !two {
		last = first
	}
	read := func(text string) (n int) {
		if text != "" {
			n, _ = strconv.Atoi(text) // 0 is refused
			ok = ok && n > 0
		}
		return n
	}
	ok = first != "" || last != ""
	from, to = read(first), read(last)
	return from, to, ok && (to == 0 || from <= to)
}

// printBlame prints a part of the file after the other.
func printBlame(ctx context.Context, host Host, in filechanges.BlameRequest, out io.Writer) error {
	for ctx.Err() == nil {
		reply, err := ask[authors.BlameReply](ctx, host, "files.blame", in)
		if err != nil {
			return err
		}
		if reply.Skipped > 0 && in.From <= 1 && in.Texts {
			fmt.Fprintf(out, "(the oldest %d steps were left out; their lines count as earlier)\n", reply.Skipped)
		}
		for _, run := range reply.Runs {
			var step *authors.BlameStep
			if run.By == authors.ByStep {
				step = &reply.Steps[run.Step]
			}
			if in.Texts {
				err = printRun(out, reply, run, step)
			} else {
				err = output.WriteJSON(out, blameRow{From: run.From, To: run.To, By: run.By, Unsure: run.Unsure, Step: step})
			}
			if err != nil {
				return err
			}
		}
		if in.From = reply.Next; in.From == 0 {
			return nil
		}
	}
	return context.Cause(ctx)
}

// blameRow is a run of lines with the step that wrote them.
type blameRow struct {
	From   int                `json:"from"`
	To     int                `json:"to"`
	By     authors.LineAuthor `json:"by"`
	Unsure bool               `json:"unsure,omitempty"`
	Step   *authors.BlameStep `json:"step,omitempty"`
}

// Widths of the columns.
const (
	shortID    = 10
	modelWidth = 18
	costWidth  = 10
)

// printRun prints the lines of a run, each with its author.
func printRun(out io.Writer, reply authors.BlameReply, run authors.BlameRun, step *authors.BlameStep) error {
	who, turn, model, cost, at := "("+string(run.By)+")", "", "", "", ""
	if step != nil {
		who = step.Session[:min(len(step.Session), shortID)]
		if step.Turn > 0 {
			turn = fmt.Sprint(step.Turn)
		}
		model, cost = madeBy(*step)
		at = time.UnixMilli(step.At).Format("2006-01-02 15:04")
	}
	if run.Unsure {
		who += "?"
	}
	digits := len(strconv.Itoa(reply.Total))
	for n := run.From; n <= run.To; n++ {
		text := reply.Texts[n-reply.Runs[0].From]
		_, err := fmt.Fprintf(out, "%-*s %4s %-*s %*s %16s %*d) %s\n", shortID+1, who, turn, modelWidth, model, costWidth, cost, at, digits, n, text)
		if err != nil {
			return err
		}
	}
	return nil
}

// madeBy names the model of a step, or the user's action, and the cost of its turn.
func madeBy(step authors.BlameStep) (model, cost string) {
	switch step.Kind {
	case agent.KindLocalCommandEnd:
		return "your command", ""
	case agent.KindFilesRestored:
		return "undo or redo", ""
	}
	if spent := step.Made.Cost; spent != nil && spent.Unknown > 0 && spent.Cost == 0 {
		cost = "?"
	} else if spent != nil {
		cost = strings.Replace(spent.Cost.String(), "less than ", "<", 1)
		if spent.Unknown > 0 {
			cost += "+"
		}
	}
	return output.LineOf(cmp.Or(step.Made.Model, "?"), modelWidth), cost
}
