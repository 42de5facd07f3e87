// Package profile decides what a model is told about itself and its
// surroundings: the system prompt, in the layers of the loop specification
// (LOOP-43). It is taken once a session, so that the prefix of every request
// stays the same.
package profile

import (
	_ "embed"
	"fmt"
	"strings"
	"time"
)

//go:embed base.md
var base string

// Surroundings are the facts of the environment block (LOOP-45).
type Surroundings struct {
	Folder   string
	Branch   string // empty outside a git repository
	Platform string
	OS       string
	Model    string
	Date     time.Time
}

// SystemPrompt returns the base prompt and the environment block.
func SystemPrompt(s Surroundings) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(base))
	b.WriteString("\n\n<environment>\n")
	fmt.Fprintf(&b, "Working directory: %s\n", s.Folder)
	fmt.Fprintf(&b, "Is git repository: %t\n", s.Branch != "")
	if s.Branch != "" {
		fmt.Fprintf(&b, "Git branch: %s\n", s.Branch)
	}
	fmt.Fprintf(&b, "Platform: %s\n", s.Platform)
	fmt.Fprintf(&b, "OS version: %s\n", s.OS)
	fmt.Fprintf(&b, "Today's date: %s\n", s.Date.Format(time.DateOnly))
	fmt.Fprintf(&b, "Model: %s\n", s.Model)
	b.WriteString("</environment>")
	return b.String()
}
