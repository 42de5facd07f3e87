package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"atelier.dev/atelier/agent/skill"
)

// maxTable limits the rows of a step's summary, which GitHub takes up to 1 MB of.
const maxTable = 1000

// report tells GitHub Actions what was found: an annotation for each finding, and a table in the
// summary of the step.
func (v *validation) report(asJSON bool) error {
	if v.c.getenv("GITHUB_ACTIONS") != "" {
		out := v.c.out
		if asJSON { // GitHub reads both, and what is printed stays JSON
			out = v.c.err
		}
		for _, f := range v.all() {
			level := "warning"
			if f.Severity == skill.Low {
				level = "notice"
			}
			fmt.Fprintf(out, "::%s file=%s,line=%d,title=%s::%s\n", level, property(v.inWorkspace(f.File)), max(1, f.Line),
				property(f.Rule+" "+f.Title), data(f.Rule+": "+f.Message+" "+f.Fix))
		}
	}
	if path := v.c.getenv("GITHUB_STEP_SUMMARY"); path != "" {
		return v.writeSummary(path)
	}
	return nil
}

// inWorkspace returns a file's path relative to the folder that was checked out.
func (v *validation) inWorkspace(file string) string {
	workspace := v.c.getenv("GITHUB_WORKSPACE")
	if workspace == "" {
		return file
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(v.here, filepath.FromSlash(file))
	}
	if rel, err := filepath.Rel(workspace, file); err == nil && filepath.IsLocal(rel) {
		file = rel
	}
	return filepath.ToSlash(file)
}

// data escapes the text of a workflow command, and property one of its properties.
func data(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(strings.TrimSpace(text))
}

func property(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(text))
}

// cell escapes the text of a cell of a table in Markdown.
func cell(text string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "\n", " ", "\r", " ", "&", "&amp;", "<", "&lt;", "`", "\\`", "[", `\[`, "*", `\*`, "_", `\_`).Replace(text)
}

// writeSummary adds the findings to the summary of the step.
func (v *validation) writeSummary(path string) error {
	var b strings.Builder
	b.WriteString("## Skill validation\n\n")
	if all := v.all(); len(all) > 0 {
		b.WriteString("| Skill | Rule | Severity | File | Detail |\n|---|---|---|---|---|\n")
		for _, f := range all[:min(len(all), maxTable)] {
			file := f.File
			if f.Line > 0 {
				file = fmt.Sprintf("%s:%d", file, f.Line)
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", cell(f.Skill), cell(f.Rule), f.Severity, cell(file), cell(f.Message))
		}
		if more := len(all) - maxTable; more > 0 {
			fmt.Fprintf(&b, "\n%d more findings are not listed.\n", more)
		}
		b.WriteString("\n")
	}
	b.WriteString(v.summary() + "\n\n")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("write the step's summary: %w", err)
	}
	_, err = f.WriteString(b.String())
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write the step's summary: %w", err)
	}
	return nil
}
