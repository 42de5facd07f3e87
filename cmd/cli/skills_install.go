package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend/skills"
	"atelier.dev/atelier/cmd/cli/output"
)

// installSkills installs skills from a folder or an archive, after it has shown what they
// contain.
func (c *command) installSkills(use string, args []string) int {
	flags := c.flags(use)
	folder := flags.StringP("directory", "C", "", "project folder (default: the current one)")
	project := flags.Bool("project", false, "install them into the project (default: for you, in all projects)")
	user := flags.Bool("user", false, "install them for you, in all projects")
	replace := flags.Bool("replace", false, "let them take the place of skills of the same names")
	yes := flags.BoolP("yes", "y", false, "do not ask")
	if code, ok := c.parse(flags, args); !ok {
		return code
	}
	if flags.NArg() != 1 {
		return c.misused(flags, "name one folder, or one .zip, .tar.gz or .skill archive")
	}
	if *project && *user {
		return c.misused(flags, "--project and --user exclude each other")
	}
	path, err := filepath.Abs(flags.Arg(0))
	if err != nil {
		return c.fail(err)
	}
	in := skills.SkillInstallRequest{Path: path, Scope: agent.ScopeUser, Replace: *replace}
	if *project {
		in.Scope = agent.ScopeProject
	}
	return c.withApp(*folder, func(a *app) error { return c.install(a, in, *yes) })
}

func (c *command) install(a *app, in skills.SkillInstallRequest, yes bool) error {
	found, err := ask[skills.SkillInspectReply](c.ctx, a, "skills.inspect", in)
	if err != nil {
		return err
	}
	taken := false
	for _, s := range found.Skills {
		if s.Same {
			fmt.Fprintf(c.out, "/%s is installed already, with the same content.\n", output.OneLine(s.Name))
			continue
		}
		printParcel(c.out, s)
		in.Names = append(in.Names, s.Name)
		taken = taken || s.Taken
	}
	if len(in.Names) == 0 {
		return nil
	}
	if taken && !in.Replace {
		fmt.Fprintln(c.err, "Nothing was installed, because skills of these names stand there. To replace them, add --replace.")
		return errSaid
	}
	if !yes && !c.agrees(installQuestion(in.Scope)) {
		fmt.Fprintln(c.out, "Nothing was installed.")
		return errSaid
	}
	in.Seal = found.Seal
	if _, err := ask[skills.SkillsReply](c.ctx, a, "skills.install", in); err != nil {
		return err
	}
	for _, name := range in.Names {
		fmt.Fprintf(c.out, "Installed /%s.\n", output.OneLine(name))
	}
	return nil
}

func installQuestion(scope agent.Scope) string {
	if scope == agent.ScopeProject {
		return "Install into the project?"
	}
	return "Install for you, in all projects?"
}

// printParcel shows what would be installed: above all what it would run.
func printParcel(out io.Writer, s skills.SkillParcel) {
	fmt.Fprintf(out, "/%s", output.OneLine(s.Name))
	if s.Taken {
		fmt.Fprint(out, "  (a skill of this name stands there)")
	}
	fmt.Fprintf(out, "\n  %s\n", line(s.Description))
	for _, l := range s.Lines {
		fmt.Fprintf(out, "  runs, whenever it is used: %s\n", output.LineOf(l, 1000))
	}
	for _, f := range s.Files {
		runs := ""
		if f.Runs {
			runs = ", can be run"
		}
		fmt.Fprintf(out, "  %s, %d bytes%s\n", output.LineOf(f.Path, 200), f.Size, runs)
	}
	for _, f := range s.Findings {
		fmt.Fprintf(out, "  ! %s: %s\n", strings.ToLower(string(f.Severity)), line(f.Message))
	}
	text := s.Text
	if s.Difference != "" {
		fmt.Fprint(out, "\n  It differs from what stands there:")
		text = s.Difference
	}
	fmt.Fprintf(out, "\n%s\n\n", indented(text))
}
