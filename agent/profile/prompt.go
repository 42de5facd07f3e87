package profile

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/project"
)

// brief writes the layers of the system prompt: the profile's base, the
// environment with what is permitted, the tools, the project's memory (K-23), its
// documents, the user's own document (LOOP-43).
func (p *Profiles) brief(ctx context.Context, s shown, now agent.BriefingInput) agent.Briefing {
	documents := p.documents(s, nil)
	told := p.tell(now.Mode, documents)
	layers := []string{
		p.base(s), p.environment(now.Provider, now.Model), p.permissions(now.Mode), p.surroundings.Confined(now.Mode), guidance(s.Tools), p.surroundings.Role(), p.early(now, told),
		instructions(remembered, documents.memory), instructions(projects, documents.project), p.nested(ctx, s), documents.own(),
	}
	layers = slices.DeleteFunc(layers, func(layer string) bool { return layer == "" })
	return agent.Briefing{
		System:    strings.Join(layers, "\n\n"),
		Documents: onRecord(documents.all()),
		Told:      told,
	}
}

// base writes the base of the profile, which depends on who reads the answers.
func (p *Profiles) base(s shown) string {
	audience, voice := p.audience()
	return strings.NewReplacer(
		"{common}", strings.ReplaceAll(text("prompts/common"), "{ask}", p.asking()),
		"{audience}", audience,
		"{voice}", text("prompts/"+cmp.Or(voice, s.id+"-voice")),
	).Replace(text("prompts/" + s.id))
}

// environment writes the environment block, with the repository's state at the
// start of the session (LOOP-45, LOOP-46).
func (p *Profiles) environment(provider, model string) string {
	s := p.surroundings
	var b strings.Builder
	b.WriteString("<environment>\n")
	fmt.Fprintf(&b, "Working directory: %s\n", inLine(s.Folder))
	fmt.Fprintf(&b, "Is git repository: %t\n", p.snapshot.ok)
	if p.snapshot.Branch != "" {
		fmt.Fprintf(&b, "Git branch: %s\n", inLine(p.snapshot.Branch))
	}
	fmt.Fprintf(&b, "Platform: %s\n", s.Platform)
	fmt.Fprintf(&b, "OS version: %s\n", s.OS)
	fmt.Fprintf(&b, "Today's date: %s\n", s.Now().Format(time.DateOnly))
	fmt.Fprintf(&b, "Model: %s\n", inLine(model))
	if cutoff := s.Cutoff(provider, model); cutoff != "" {
		fmt.Fprintf(&b, "Knowledge cutoff: %s\n", cutoff)
	}
	b.WriteString("</environment>")
	if snap := p.snapshot; snap.Counted || len(snap.Commits) > 0 {
		b.WriteString("\n\n<repository>\nAs it was when the session began; it is not brought up to date here.\n")
		if snap.Counted {
			fmt.Fprintf(&b, "Modified files: %d, untracked: %d\n", snap.Modified, snap.Untracked)
		}
		if len(snap.Commits) > 0 {
			b.WriteString("Last commits:\n")
			for _, commit := range snap.Commits {
				fmt.Fprintf(&b, "  %s\n", inLine(commit))
			}
		}
		b.WriteString("</repository>")
	}
	return b.String()
}

// guidance explains each tool and how the tools go together (LOOP-141).
func guidance(tools *agent.Toolset) string {
	var b strings.Builder
	b.WriteString("Tools\n")
	shown := map[string]string{}
	for _, spec := range tools.Definitions() {
		shown[tools.Canonical(spec.Name)] = spec.Name
		first, _, _ := strings.Cut(spec.Description, "\n")
		fmt.Fprintf(&b, "- %s: %s\n", spec.Name, first)
	}
	b.WriteString("\n" + phrase(text("prompts/tools"), shown))
	return b.String()
}

// What stands before the project's documents, and before its memory.
const (
	projects   = "Instructions of the project. Where they differ, a deeper folder's hold over those above it."
	remembered = "Remembered about the project. Instructions below hold over it."
)

// instructions writes the project's documents after a sentence about them.
func instructions(about string, documents []project.Document) string {
	var b strings.Builder
	for _, d := range documents {
		if d.Problem == "" {
			b.WriteString("\n\n" + document(d))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return about + b.String()
}

// document writes one of the project's documents.
func document(d project.Document) string {
	return enclosed(d, "<project_instructions path="+quoted(d.Path)+">", "</project_instructions>")
}

// userDocument writes the user's own document.
func userDocument(d project.Document) string {
	return enclosed(d, "<user_instructions>", "</user_instructions>")
}

// enclosed writes a document between tags that its text cannot imitate. A note
// after them says whether it is cut.
func enclosed(d project.Document, begin, end string) string {
	whole := begin + "\n" + agent.EscapeTags(strings.TrimSpace(d.Text)) + "\n" + end
	if d.Told < d.Size {
		whole += "\n" + cmp.Or(d.Cut, project.Truncated)
	}
	return whole
}

// quoted writes an untrusted name in quotes, so that its end is visible.
func quoted(name string) string { return agent.EscapeTags(strconv.Quote(name)) }

// inLine writes untrusted text without line breaks.
func inLine(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return quoted(text)
	}
	return agent.EscapeTags(text)
}

// nested lists the documents below the folder (K-45).
func (p *Profiles) nested(ctx context.Context, s shown) string {
	paths, more := project.Nested(ctx, p.surroundings.Folder, s.names()...)
	if len(paths) == 0 {
		return ""
	}
	for i, path := range paths {
		paths[i] = quoted(path)
	}
	list := "Folders below have instructions of their own, which hold for work there. You are given them when you begin to work there: " + strings.Join(paths, ", ")
	if more {
		list += ", and perhaps others further down"
	}
	return list + "."
}

// placeholder matches a tool's canonical name in a text.
var placeholder = regexp.MustCompile(`\{([A-Za-z]+)\}`)

// phrase replaces canonical names by the names under which the tools are shown.
// It leaves out lines about tools that are not shown.
func phrase(text string, shown map[string]string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		whole := true
		line = placeholder.ReplaceAllStringFunc(line, func(s string) string {
			name := shown[s[1:len(s)-1]]
			whole = whole && name != ""
			return name
		})
		if whole {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
