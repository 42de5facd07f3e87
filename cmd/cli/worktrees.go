package cli

import (
	"errors"
	"fmt"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/projects"
	"atelier.dev/atelier/backend/trees"
	"atelier.dev/atelier/cmd/cli/output"
)

// worktrees lists and removes the worktrees of a project's sessions and agents.
func (c *command) worktrees(args []string) int {
	name := "list"
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		name, args = args[0], args[1:]
	}
	switch name {
	case "list":
		return c.listWorktrees(args)
	case "remove":
		return c.removeWorktrees(args)
	}
	fmt.Fprint(c.err, "Usage: atelier worktrees [list|remove NAME…]\n")
	return exitUsage
}

func (c *command) listWorktrees(args []string) int {
	f := c.sessionFlags("atelier worktrees list [flags]")
	if code, ok := c.parse(f.FlagSet, args); !ok {
		return code
	}
	return c.withApp(f.folder, func(a *app) error {
		reply, err := ask[trees.WorktreesReply](c.ctx, a, "worktrees.list", backend.Empty{})
		if err != nil {
			return err
		}
		for _, tree := range reply.Worktrees {
			if f.asJSON {
				if err := output.WriteJSON(c.out, tree); err != nil {
					return err
				}
				continue
			}
			fmt.Fprintln(c.out, tree.Words(output.OneLine))
		}
		if !f.asJSON {
			fmt.Fprintf(c.err, "%d of at most %d worktrees.\n", len(reply.Worktrees), reply.Limit)
		}
		return nil
	})
}

func (c *command) removeWorktrees(args []string) int {
	f := c.sessionFlags("atelier worktrees remove [flags] NAME…")
	all := f.Bool("all", false, "also with what would be lost, which the list names")
	if code, ok := c.parse(f.FlagSet, args); !ok {
		return code
	}
	if f.NArg() == 0 {
		return c.misused(f.FlagSet, "name a worktree")
	}
	return c.withApp(f.folder, func(a *app) error {
		kept := false
		for _, name := range f.Args() {
			fate, err := ask[trees.WorktreeFate](c.ctx, a, "worktrees.remove", trees.WorktreeRemoveRequest{Name: name, All: *all})
			if err != nil {
				return err
			}
			kept = kept || !fate.Removed
			if f.asJSON {
				if err := output.WriteJSON(c.out, fate); err != nil {
					return err
				}
				continue
			}
			c.printFate(fate)
		}
		if kept {
			return errSaid
		}
		return nil
	})
}

// printFate says whether a worktree was removed.
func (c *command) printFate(tree trees.WorktreeFate) {
	if tree.Removed {
		fmt.Fprintf(c.out, "removed %s\n", output.OneLine(tree.Path))
		return
	}
	fmt.Fprintf(c.out, "kept %s, because %s\n", output.OneLine(tree.Path), output.OneLine(tree.Because))
	fmt.Fprintf(c.err, "To remove it all the same: atelier worktrees remove --all %s\n", output.OneLine(tree.Name))
}

// showAgents shows what works, waits and failed in all projects, or stops a session.
func showAgents(c *command, args []string) int {
	f := c.sessionFlags("atelier agents [flags]")
	stop := f.String("stop", "", "stop the session with this id, whichever project it is in")
	if code, ok := c.parse(f.FlagSet, args); !ok {
		return code
	}
	return c.withApp(f.folder, func(a *app) error {
		if *stop != "" {
			_, err := ask[backend.Empty](c.ctx, a, "projects.stop", projects.StopRequest{Session: *stop})
			return err
		}
		list, err := ask[projects.WorkList](c.ctx, a, "projects.work", backend.Empty{})
		if err == nil && f.asJSON {
			return output.WriteJSON(c.out, list)
		}
		return errors.Join(err, projects.PrintWork(c.out, list, output.OneLine))
	})
}
