package skill

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/tokens"
)

// ListBudget is how many tokens the list of skills may take of a model's window, and listed how many
// characters a description may have there.
const (
	ListBudget = 500
	listed     = 250
)

// Listing is the list of skills that models are given.
type Listing struct {
	Text   string
	Tokens int
	// Unlisted counts the skills that are in the list by their names alone, or not at all.
	Unlisted int
	// Weights are the tokens that each skill takes in the list, by its key.
	Weights map[string]int
}

// List lists the skills that a model may use, the first ones first. If their descriptions do
// not fit into the budget, all of them are shortened; then there are only names, and then
// only the first names and a count of the others.
func List(skills []Skill, budget int) Listing {
	var offered []offer
	for _, s := range skills {
		if s.Usage.ByModel && s.Usage.Unavailable == "" {
			offered = append(offered, offer{s.Key(), s.Name, []rune(s.Summary())})
		}
	}
	if len(offered) == 0 {
		return Listing{}
	}
	for _, length := range []int{listed, 160, 100, 60, 30, 0} {
		lines := make([]string, len(offered))
		size := 0
		for i, o := range offered {
			lines[i] = o.line(length)
			size += len(lines[i])
		}
		if size > 16*budget { // it cannot fit, and need not be counted
			continue
		}
		if text := strings.Join(lines, ""); tokens.Estimate(text) <= budget {
			l := listing(offered, lines, text)
			if length == 0 {
				l.Unlisted = len(offered)
			}
			return l
		}
	}
	return firstNames(offered, budget)
}

// offer is a skill in the list.
type offer struct {
	key, name string
	about     []rune
}

// line returns the line of a skill with as many characters of its description.
func (o offer) line(length int) string {
	about := o.about
	if len(about) > length {
		about = slices.Clone(about[:length])
		if length > 0 {
			about[length-1] = '…'
		}
	}
	if len(about) == 0 {
		return "- " + agent.EscapeTags(o.name) + "\n"
	}
	return "- " + agent.EscapeTags(o.name+": "+string(about)) + "\n"
}

func listing(offered []offer, lines []string, text string) Listing {
	l := Listing{Text: text, Tokens: tokens.Estimate(text), Weights: map[string]int{}}
	for i, line := range lines {
		l.Weights[offered[i].key] = tokens.Estimate(line)
	}
	return l
}

// firstNames lists as many names as fit, and counts the others.
func firstNames(offered []offer, budget int) Listing {
	lines := []string{}
	for i := range min(len(offered)-1, budget) {
		lines = append(lines, offered[i].line(0))
	}
	write := func(n int) string {
		return strings.Join(lines[:n], "") + fmt.Sprintf("and %d more\n", len(offered)-n)
	}
	n := sort.Search(len(lines), func(n int) bool { return tokens.Estimate(write(n+1)) > budget })
	for ; n >= 0; n-- { // a longer list may take a token less
		if text := write(n); tokens.Estimate(text) <= budget {
			l := listing(offered[:n], lines[:n], text)
			l.Unlisted = len(offered)
			return l
		}
	}
	return Listing{Unlisted: len(offered)}
}

// Summary says in one line what a skill is for: its description and when to use it, or else
// the first paragraph of its body.
func (s Skill) Summary() string {
	about := oneLine(beginning(s.Description))
	if about == "" {
		about = firstParagraph(s.Body)
	}
	if when := oneLine(beginning(s.WhenToUse)); when != "" {
		about = strings.TrimSpace(about + " Use when: " + when)
	}
	return about
}

// beginning returns as much of a text as a summary can need.
func beginning(text string) string {
	const most = 4 << 10
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "")
	}
	return text
}

// oneLine returns a text on one line, without characters that cannot be seen.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(c rune) bool { return unicode.IsSpace(c) || !unicode.IsPrint(c) }), " ")
}

// firstParagraph returns the first paragraph that is not a heading.
func firstParagraph(body string) string {
	var paragraph []string
	for line := range strings.Lines(beginning(body)) {
		line = oneLine(line)
		switch {
		case line == "" && len(paragraph) > 0:
			return strings.Join(paragraph, " ")
		case line != "" && !strings.HasPrefix(line, "#"):
			paragraph = append(paragraph, line)
		}
	}
	return strings.Join(paragraph, " ")
}
