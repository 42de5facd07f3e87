package cli

import (
	"fmt"
	"io"

	"atelier.dev/atelier/backend"
	"github.com/spf13/pflag"
)

// sessionCommand is one of the commands of atelier sessions.
type sessionCommand struct {
	name, arguments, about string
	run                    func(c *command, use string, args []string) int
}

// sessionCommands lists the commands of atelier sessions, in the order of the help.
func sessionCommands() []sessionCommand {
	return []sessionCommand{
		{"list", "[flags]", "lists the project's sessions, the newest first", (*command).listSessions},
		{"show", "[flags] ID", "shows what the list knows of a session", (*command).showSession},
		{"search", "[flags] QUERY", "finds texts in what was said and printed", (*command).searchSessions},
		{"fork", "[flags] ID", "copies a session, up to any message, into a new one", (*command).forkSession},
		{"export", "[flags] ID", "writes a session to a file, without its secrets", (*command).exportSession},
		{"import", "[flags] FILE…", "makes sessions of other programs' transcripts", (*command).importSessions},
		{"rename", "[flags] ID TITLE", "gives a session another title", (*command).renameSession},
		{"relink", "OLD [NEW]", "brings the sessions of a moved folder to its new place", (*command).relinkSessions},
		{"tag", "[flags] ID [TAG…]", "gives a session these tags in place of others", (*command).tagSession},
		{"pin", "[flags] ID", "keeps a session at the top of the list", marking(pinning(true))},
		{"unpin", "[flags] ID", "lets it go from there", marking(pinning(false))},
		{"archive", "[flags] ID", "takes a session out of the list", marking(archiving(true))},
		{"unarchive", "[flags] ID", "puts it back", marking(archiving(false))},
		{"delete", "[flags] ID", "deletes a session, which can be restored", marking(deleting(true))},
		{"restore", "[flags] ID", "restores a deleted session", marking(deleting(false))},
		{"remove", "[flags] ID", "removes a deleted session for good", (*command).removeSession},
	}
}

// sessions runs one of the commands about sessions.
func (c *command) sessions(args []string) int {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	switch name {
	case "help", "--help", "-h":
		printSessionCommands(c.err)
		return exitDone
	}
	for _, each := range sessionCommands() {
		if each.name == name {
			return each.run(c, fmt.Sprintf("atelier sessions %s %s", each.name, each.arguments), args[1:])
		}
	}
	printSessionCommands(c.err)
	return exitUsage
}

func printSessionCommands(out io.Writer) {
	fmt.Fprint(out, "Usage: atelier sessions COMMAND\n\n")
	for _, each := range sessionCommands() {
		fmt.Fprintf(out, "  %-10s  %s\n", each.name, each.about)
	}
	fmt.Fprint(out, "\nAn ID may be given by its beginning. Run a command with --help for its flags.\n")
}

// sessionFlags are the flags that all commands about sessions have.
type sessionFlags struct {
	*pflag.FlagSet
	folder string
	asJSON bool
	// everywhere is set by the flag of [sessionFlags.allProjects].
	everywhere bool
}

func (c *command) sessionFlags(use string) *sessionFlags {
	f := &sessionFlags{FlagSet: c.flags(use)}
	f.StringVarP(&f.folder, "directory", "C", "", "project folder (default: the current one)")
	f.BoolVar(&f.asJSON, "json", false, "print JSON, an object a line")
	return f
}

// allProjects adds the flag that widens a list or a search to every folder.
func (f *sessionFlags) allProjects() {
	f.BoolVar(&f.everywhere, "all-projects", false, "the sessions of all projects")
}

// withSession runs something with a session, which is given by its id or the
// beginning of it.
func (c *command) withSession(f *sessionFlags, id string, do func(a *app, session backend.SessionInfo) error) int {
	if err := backend.CheckSessionID(id); err != nil {
		return c.fail(err)
	}
	return c.withApp(f.folder, func(a *app) error {
		session, err := a.List().Find(c.ctx, id)
		if err != nil {
			return err
		}
		return do(a, session)
	})
}
