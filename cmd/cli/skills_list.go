package cli

import (
	"fmt"
	"io"
	"strings"

	"atelier.dev/atelier/agent/skill"
	"atelier.dev/atelier/backend/skills"
	"atelier.dev/atelier/cmd/cli/output"
)

// skillStates say whether a skill can be used.
var skillStates = map[skills.SkillState]string{
	skills.SkillReady: "ready", skills.SkillOff: "switched off", skills.SkillHidden: "hidden by another of its name",
	skills.SkillUntrusted: "waits for your trust", skills.SkillChanged: "changed since you trusted it", skills.SkillRefused: "refused",
	skills.SkillBroken: "cannot be read", skills.SkillUnavailable: "not for this project",
}

// listSkills lists the skills and commands of a project.
func (c *command) listSkills(use string, args []string) int {
	flags := c.flags(use)
	asJSON := flags.Bool("json", false, "print one JSON object")
	if code, ok := c.parse(flags, args); !ok {
		return code
	}
	if flags.NArg() > 1 {
		return c.misused(flags, "one folder at a time")
	}
	return c.withApp(flags.Arg(0), func(a *app) error {
		reply, err := ask[skills.SkillsReply](c.ctx, a, "skills.list", skills.SkillsRequest{})
		if err != nil {
			return err
		}
		if *asJSON {
			return output.WriteJSON(c.out, reply)
		}
		printSkills(c.out, reply)
		return nil
	})
}

func printSkills(out io.Writer, reply skills.SkillsReply) {
	for _, f := range reply.Folders {
		if f.Problem != nil {
			fmt.Fprintf(out, "%s\n  %s\n", line(f.Path), line(f.Problem.Message))
		}
	}
	for _, s := range reply.Skills {
		fmt.Fprintf(out, "/%s", output.OneLine(s.Name))
		for _, alias := range s.Aliases {
			fmt.Fprintf(out, ", /%s", output.OneLine(alias))
		}
		fmt.Fprintf(out, "  %s", skillStates[s.State])
		if s.Usage.Why != "" {
			fmt.Fprintf(out, ": %s", line(s.Usage.Why))
		}
		fmt.Fprintln(out)
		if s.Description != "" {
			fmt.Fprintf(out, "  %s\n", output.LineOf(s.Description, 200))
		}
		place := "built in"
		if s.Kind != skill.KindBuiltIn {
			place = line(s.Place.File)
		}
		fmt.Fprintf(out, "  %s, about %d tokens\n", place, s.Weight.Body)
		for _, other := range s.Others {
			if s.State == skills.SkillHidden {
				fmt.Fprintf(out, "  hidden by %s\n", line(other))
			} else {
				fmt.Fprintf(out, "  hides %s\n", line(other))
			}
		}
		if len(s.Findings) > 0 {
			var counts []string
			for _, f := range s.Findings {
				counts = append(counts, fmt.Sprintf("%d %s", f.Count, strings.ToLower(string(f.Severity))))
			}
			fmt.Fprintf(out, "  findings: %s; atelier skills validate says what they are\n", strings.Join(counts, ", "))
		}
	}
	if reply.More {
		fmt.Fprintln(out, "There are more skills than are loaded.")
	}
	fmt.Fprintf(out, "The list of skills takes about %d tokens of each model's window, and may take %d.\n", reply.Tokens, reply.Budget)
}
