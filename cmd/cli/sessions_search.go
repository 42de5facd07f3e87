package cli

import (
	"fmt"
	"math"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/cmd/cli/output"
)

// maxSnippet is how much of a hit is printed, in characters.
const maxSnippet = 200

// maxPage is how many rows are asked for at once.
const maxPage = 500

// most reads a limit, of which 0 stands for none.
func most(limit int) int {
	if limit == 0 {
		return math.MaxInt
	}
	return limit
}

// searchSessions finds texts in sessions, once all of them are indexed.
func (c *command) searchSessions(use string, args []string) int {
	f := c.sessionFlags(use)
	f.allProjects()
	f.BoolVar(&f.everywhere, "all", false, "the same as --all-projects")
	limit := f.Int("limit", 50, "how many hits at most (0: all)")
	if code, ok := c.parse(f.FlagSet, args); !ok {
		return code
	}
	switch {
	case f.NArg() == 0:
		return c.misused(f.FlagSet, "say what to search for; put -- before a query that begins with a hyphen")
	case *limit < 0:
		return c.misused(f.FlagSet, "--limit is not negative")
	}
	in := sessionlist.SearchRequest{Text: strings.Join(f.Args(), " "), Everywhere: f.everywhere}
	return c.withApp(f.folder, func(a *app) error {
		if err := c.patiently(a.indexing, func() error { return a.index.CatchUp(c.ctx) }); err != nil {
			return err
		}
		any := false
		for left := most(*limit); left > 0; {
			in.Limit = min(left, maxPage)
			found, err := ask[backend.Found](c.ctx, a, "sessions.search", in)
			if err != nil {
				return err
			}
			if in.Next == "" {
				c.warnUnclear(found.Filters)
				c.tellExcluded(found.Hyphens)
			}
			for _, session := range found.Sessions {
				session.Hits = session.Hits[:min(left, len(session.Hits))]
				left -= len(session.Hits)
				any = true
				if err := c.printFound(f, session); err != nil {
					return err
				}
			}
			if in.Next = found.Next; in.Next == "" {
				break
			}
		}
		if in.Next != "" {
			c.tellCut(*limit)
		}
		if !any {
			fmt.Fprintln(c.err, "Nothing was found.")
		}
		return nil
	})
}

// indexing says how many sessions have still to be read before a search.
func (a *app) indexing() string {
	if n := a.index.Behind(); n > 0 {
		return fmt.Sprintf("Reading the sessions for the search index, once: %d to go.", n)
	}
	return ""
}

// tellExcluded says which words a hyphen excluded, and how to search for them instead.
func (c *command) tellExcluded(hyphens []backend.SearchHyphen) {
	for _, h := range hyphens {
		if !h.Excluded {
			continue
		}
		fmt.Fprintf(c.err, "Texts with “%s” are left out.", output.OneLine(h.Word))
		if h.Instead != "" {
			fmt.Fprintf(c.err, " To find %s, search for %s, with its quotation marks.", output.OneLine("-"+h.Word), output.OneLine(h.Instead))
		}
		fmt.Fprintln(c.err)
	}
}

// warnUnclear says which filters do nothing.
func (c *command) warnUnclear(filters []backend.SearchFilter) {
	for _, filter := range filters {
		if filter.Unclear {
			fmt.Fprintf(c.err, "The filter %s is not understood and does nothing.\n", output.OneLine(filter.Raw))
		}
	}
}

// printFound prints the hits in one session.
func (c *command) printFound(f *sessionFlags, session backend.FoundSession) error {
	if len(session.Hits) == 0 {
		return nil
	}
	if f.asJSON {
		return output.WriteJSON(c.out, session)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s", session.Session, output.OneLine(session.Title))
	if session.Archived {
		b.WriteString("  (archived)")
	}
	if f.everywhere {
		b.WriteString("  " + output.OneLine(session.Folder))
	}
	b.WriteByte('\n')
	for _, hit := range session.Hits {
		fmt.Fprintf(&b, "  %s  %-8s  %s", time.UnixMilli(hit.At).Format("2006-01-02 15:04"), hitName(hit), output.LineOf(hit.Snippet, maxSnippet))
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
		return output.OneLine(hit.Tool)
	case hit.Kind == agent.KindTextEnd:
		return "answer"
	case hit.Of != "":
		return "command"
	case hit.Kind == agent.KindCompactionEnd:
		return "summary"
	}
	return "prompt"
}
