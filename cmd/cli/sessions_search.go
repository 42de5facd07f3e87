package cli

import (
	"fmt"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/workbench"
)

// maxSnippet is how much of a hit is printed, in characters.
const maxSnippet = 200

// searchSessions finds texts in sessions, once all of them are indexed.
func (c *command) searchSessions(use string, args []string) int {
	f := c.sessionFlags(use)
	all := f.Bool("all", false, "search the sessions of all projects")
	limit := f.Int("limit", 50, "how many hits are printed at most")
	if code, ok := c.parse(f.FlagSet, args); !ok {
		return code
	}
	if f.NArg() == 0 || *limit < 1 {
		return c.misused(f.FlagSet, "say what to search for, and a limit of at least 1; put -- before a query that begins with a hyphen")
	}
	in := workbench.SearchRequest{Text: strings.Join(f.Args(), " "), Everywhere: *all}
	return c.withApp(f.folder, func(a *app) error {
		if err := a.index.CatchUp(c.ctx); err != nil {
			return err
		}
		for left := *limit; left > 0; {
			in.Limit = left
			found, err := ask[backend.Found](c.ctx, a, "sessions.search", in)
			if err != nil {
				return err
			}
			if in.Next == "" {
				c.warnUnclear(found.Filters)
			}
			for _, session := range found.Sessions {
				session.Hits = session.Hits[:min(left, len(session.Hits))]
				left -= len(session.Hits)
				if err := c.printFound(f, session, *all); err != nil {
					return err
				}
			}
			if in.Next = found.Next; in.Next == "" {
				break
			}
		}
		return nil
	})
}

// warnUnclear says which filters do nothing.
func (c *command) warnUnclear(filters []backend.SearchFilter) {
	for _, filter := range filters {
		if filter.Unclear {
			fmt.Fprintf(c.err, "The filter %s is not understood and does nothing.\n", oneLine(filter.Raw))
		}
	}
}

// printFound prints the hits in one session.
func (c *command) printFound(f *sessionFlags, session backend.FoundSession, all bool) error {
	if len(session.Hits) == 0 {
		return nil
	}
	if f.asJSON {
		return writeJSON(c.out, session)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s", session.Session, oneLine(session.Title))
	if session.Archived {
		b.WriteString("  (archived)")
	}
	if all {
		b.WriteString("  " + oneLine(session.Folder))
	}
	b.WriteByte('\n')
	for _, hit := range session.Hits {
		fmt.Fprintf(&b, "  %s  %-8s  %s", time.UnixMilli(hit.At).Format("2006-01-02 15:04"), hitName(hit), lineOf(hit.Snippet, maxSnippet))
		if hit.TakenBack {
			b.WriteString("  (rewound)")
		}
		b.WriteByte('\n')
	}
	if session.More {
		b.WriteString("  and more\n")
	}
	_, err := fmt.Fprint(c.out, b.String())
	return err
}

// hitName says what has the hit.
func hitName(hit backend.SearchHit) string {
	switch {
	case hit.Kind == agent.KindTitle:
		return "title"
	case hit.Tool != "":
		return oneLine(hit.Tool)
	case hit.Kind == agent.KindTextEnd:
		return "answer"
	case hit.Of != "":
		return "command"
	case hit.Kind == agent.KindCompactionEnd:
		return "summary"
	}
	return "prompt"
}
