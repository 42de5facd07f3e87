package profile

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/project"
)

// brief writes the system prompt in its layers: the profile's base, the
// environment, the tools, the project's documents, the user's own (LOOP-43).
func (p *Profiles) brief(s shown, provider, model string) agent.Briefing {
	var b agent.Briefing
	layers := []string{
		strings.ReplaceAll(text("prompts/"+s.id), "{common}", text("prompts/common")),
		p.environment(provider, model),
		guidance(s.Tools),
	}
	documents := project.Documents(p.surroundings.Folder, append([]string{project.UserDocument}, s.documents...)...)
	if text := instructions(documents); text != "" {
		layers = append(layers, text)
	}
	if d, ok := project.User(p.surroundings.Home); ok {
		if d.Text != "" {
			layers = append(layers, "The user's own instructions. Where they differ from anything above, they hold.\n\n"+strings.TrimSpace(d.Text))
		}
		documents = append(documents, d)
	}
	for _, d := range documents {
		b.Documents = append(b.Documents, agent.Document{Path: d.Path, Size: d.Size, Told: d.Told, Problem: d.Problem})
	}
	b.System = strings.Join(layers, "\n\n")
	return b
}

// environment writes the environment block, with the repository's state as it
// was when the session began (LOOP-45, LOOP-46).
func (p *Profiles) environment(provider, model string) string {
	s := p.surroundings
	var b strings.Builder
	b.WriteString("<environment>\n")
	fmt.Fprintf(&b, "Working directory: %s\n", s.Folder)
	fmt.Fprintf(&b, "Is git repository: %t\n", p.snapshot.ok)
	if p.snapshot.ok {
		fmt.Fprintf(&b, "Git branch: %s\n", p.snapshot.Branch)
	}
	fmt.Fprintf(&b, "Platform: %s\n", s.Platform)
	fmt.Fprintf(&b, "OS version: %s\n", s.OS)
	fmt.Fprintf(&b, "Today's date: %s\n", s.Now().Format(time.DateOnly))
	fmt.Fprintf(&b, "Model: %s\n", model)
	if cutoff := s.Cutoff(provider, model); cutoff != "" {
		fmt.Fprintf(&b, "Knowledge cutoff: %s\n", cutoff)
	}
	b.WriteString("</environment>")
	if snap := p.snapshot; snap.Counted || len(snap.Commits) > 0 {
		b.WriteString("\n\nThe repository when the session began; it is not brought up to date here.")
		if snap.Counted {
			fmt.Fprintf(&b, "\nModified files: %d, untracked: %d", snap.Modified, snap.Untracked)
		}
		if len(snap.Commits) > 0 {
			fmt.Fprintf(&b, "\nLast commits:\n  %s", strings.Join(snap.Commits, "\n  "))
		}
	}
	return b.String()
}

// guidance says what each tool is for and how they go together (LOOP-141).
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

// instructions writes the project's documents.
func instructions(documents []project.Document) string {
	var b strings.Builder
	cut := false
	for _, d := range documents {
		if d.Text != "" {
			fmt.Fprintf(&b, "\n\n--- %s ---\n%s", d.Path, strings.TrimSpace(d.Text))
		}
		cut = cut || d.Problem == "" && d.Told < d.Size
	}
	if b.Len() == 0 {
		return ""
	}
	if cut {
		b.WriteString("\n\n" + project.Truncated)
	}
	return "Instructions of the project. Where they differ, a deeper folder's hold over those above it." + b.String()
}

// placeholder matches a tool's canonical name where a text speaks of it.
var placeholder = regexp.MustCompile(`\{([A-Za-z]+)\}`)

// phrase puts the names that tools are shown under in the place of the
// canonical ones. Lines that speak of a tool that is not shown are left out.
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
