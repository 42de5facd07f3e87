package cli

import (
	"fmt"
	"io"
)

// skillCommand is one of the commands of atelier skills.
type skillCommand struct {
	name, arguments, about string
	run                    func(c *command, use string, args []string) int
}

// skillCommands lists the commands of atelier skills, in the order of the help.
func skillCommands() []skillCommand {
	return []skillCommand{
		{"list", "[flags] [DIR]", "lists the skills and commands that a project has, and whether they can be used", (*command).listSkills},
		{"install", "[flags] PATH", "installs skills from a folder or an archive, after it has shown what they contain", (*command).installSkills},
		{"validate", "[flags] [DIR…]", "checks skills against the rules: those in DIR, or all that this project loads", (*command).validateSkills},
	}
}

// skills runs one of the commands about skills.
func (c *command) skills(args []string) int {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	switch name {
	case "help", "--help", "-h":
		printSkillCommands(c.err)
		return exitDone
	}
	for _, each := range skillCommands() {
		if each.name == name {
			return each.run(c, fmt.Sprintf("atelier skills %s %s", each.name, each.arguments), args[1:])
		}
	}
	printSkillCommands(c.err)
	return exitUsage
}

func printSkillCommands(out io.Writer) {
	fmt.Fprint(out, "Usage: atelier skills COMMAND\n\n")
	for _, each := range skillCommands() {
		fmt.Fprintf(out, "  %-10s  %s\n", each.name, each.about)
	}
	fmt.Fprint(out, "\nRun a command with --help for its flags.\n")
}
