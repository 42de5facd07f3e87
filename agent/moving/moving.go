// Package moving has the tools with which a model moves its session into a git worktree of
// its own and back (OAS-331, OAS-332). Whoever runs the session makes it again in the other
// folder ([agent.Session.Proceed]), so that its tools, gate and confinement act there.
package moving

import (
	"cmp"
	"context"
	_ "embed" // for the descriptions
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/worktree"
)

//go:embed enter.md
var enterDescription string

//go:embed exit.md
var exitDescription string

// The canonical names.
const (
	Enter = "EnterWorktree"
	Exit  = "ExitWorktree"
)

// Host moves a session.
type Host interface {
	// Enter makes the worktree, or finds the one that is there, and says where it is.
	Enter(ctx context.Context, name string) (Place, error)
	// Exit leaves the worktree that the session has entered, and removes it if that is
	// asked for and nothing is lost with it, or Discard is set. If it returns an error, the
	// session stays where it is.
	Exit(ctx context.Context, in Leave) (Place, error)
}

// Place is where a session goes.
type Place struct {
	// Folder is where it works from here on, relative to the project; empty means the project.
	Folder string
	// Tree is the worktree that is entered or left, and Found says that it was there before.
	Tree  worktree.Tree
	Found bool
	// Removed says that the worktree that was left is gone.
	Removed bool
}

// Leave says what becomes of a worktree.
type Leave struct{ Remove, Discard bool }

type enterInput struct {
	Name string `json:"name,omitempty" jsonschema:"a name of lower-case letters, digits and hyphens; leave it out for one that is made up"`
	Path string `json:"path,omitempty" jsonschema:"instead of a name: a worktree of this project that is there already, such as .worktrees/NAME"`
}

// maxName is the length of a name, as package worktree has it.
const maxName = 64

// Validate says in a phrase for the model what is wrong with the name.
func (in enterInput) Validate() error {
	switch name := in.name(); {
	case in.Name != "" && in.Path != "":
		return errors.New("there is a name and a path: give one of them")
	case name == "" && in.Path == "":
		return nil
	case len(name) > maxName:
		return fmt.Errorf("the name is longer than %d characters", maxName)
	case name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || strings.Trim(name, "-") != name || strings.Contains(name, "--"):
		return fmt.Errorf("%.80q cannot be the name of a worktree: it takes lower-case letters, digits and single hyphens between them", cmp.Or(in.Name, in.Path))
	}
	return nil
}

// name returns the name of the worktree; empty if it is to be made up, or if the path leads
// elsewhere than to one.
func (in enterInput) name() string {
	if in.Path == "" {
		return in.Name
	}
	path := filepath.ToSlash(filepath.Clean(in.Path))
	if i := strings.LastIndex("/"+path, "/"+worktree.Dir+"/"); i >= 0 {
		return path[i+len(worktree.Dir)+1:]
	}
	return ""
}

type exitInput struct {
	Action  string `json:"action,omitempty" jsonschema:"keep (the default) or remove"`
	Discard bool   `json:"discard_changes,omitempty" jsonschema:"remove it although work in it would be lost; only if the user said so"`
}

// Validate says in a phrase for the model what is wrong with the action.
func (in exitInput) Validate() error {
	switch {
	case in.Action != "" && in.Action != "keep" && in.Action != "remove":
		return fmt.Errorf("action is %.40q, not keep or remove", in.Action)
	case in.Discard && in.Action != "remove":
		return errors.New("discard_changes is only for the action remove")
	}
	return nil
}

// Tools returns both tools of a session in a project.
func Tools(host Host, project string) []agent.Tool {
	enter := agent.Spec{Name: Enter, Description: strings.TrimSpace(enterDescription), Additive: true, Bindings: bindings(Enter, "enter_worktree")}
	exit := agent.Spec{Name: Exit, Description: strings.TrimSpace(exitDescription), Bindings: bindings(Exit, "exit_worktree")}
	return []agent.Tool{
		entering{checked{agent.Function(enter, func(ctx context.Context, in enterInput) (agent.Result, error) {
			at, err := host.Enter(ctx, in.name())
			if err != nil {
				return agent.Result{}, err
			}
			return agent.Result{Output: entered(at), Details: &agent.Details{Worktree: &at.Folder}}, nil
		})}, project},
		leaving{checked{agent.Function(exit, func(ctx context.Context, in exitInput) (agent.Result, error) {
			at, err := host.Exit(ctx, Leave{in.Action == "remove", in.Discard})
			if err != nil {
				return agent.Result{}, err
			}
			return agent.Result{Output: left(at), Details: &agent.Details{Worktree: &at.Folder}}, nil
		})}, project},
	}
}

func entered(at Place) string {
	text := fmt.Sprintf("You work in the worktree %s/%s now, on the branch %s: every path, command and tool is there, and nothing outside of it may be changed without asking.", worktree.Dir, at.Tree.Name, at.Tree.Branch())
	if at.Found {
		return text + " It was there before, with what was done in it."
	}
	text += " It begins with the last commit; changes of the project that are not committed are not in it, and what git ignores, such as installed packages, is missing."
	if n := at.Tree.Included; n > 0 {
		text += fmt.Sprintf(" %d ignored files that .worktreeinclude names were copied.", n)
	}
	return text + " Files that you read before have to be read again here."
}

func left(at Place) string {
	where := "in the project's own folder"
	if at.Folder != "" {
		where = "in " + at.Folder
	}
	text := fmt.Sprintf("You work %s again.", where)
	if at.Removed {
		return text + fmt.Sprintf(" The worktree %s/%s is gone.", worktree.Dir, at.Tree.Name)
	}
	return text + fmt.Sprintf(" The worktree %s/%s and its branch %s are kept; what was committed there is merged with: git merge %s", worktree.Dir, at.Tree.Name, at.Tree.Branch(), at.Tree.Branch())
}

// checked passes on the checks of a function.
type checked struct{ agent.Tool }

// Validate implements [agent.Validator].
func (c checked) Validate(input json.RawMessage) error {
	return c.Tool.(agent.Validator).Validate(input)
}

type entering struct {
	checked
	project string
}

// Access implements [agent.Accessor]: a worktree is a folder of the project that is written.
func (t entering) Access(_ context.Context, input json.RawMessage) agent.Access {
	var in enterInput
	_ = json.Unmarshal(input, &in) // it has passed the schema
	return agent.Access{Writes: []string{filepath.Join(t.project, worktree.Dir, cmp.Or(in.name(), "new"))}}
}

type leaving struct {
	checked
	project string
}

// Access implements [agent.Accessor]. Work is lost only by a wish that a person confirms
// each time, as with a folder of git.
func (t leaving) Access(_ context.Context, input json.RawMessage) agent.Access {
	var in exitInput
	_ = json.Unmarshal(input, &in) // it has passed the schema
	if in.Discard {
		return agent.Access{Writes: []string{filepath.Join(t.project, worktree.Dir, ".git")}}
	}
	return agent.Access{Own: true}
}

// bindings say how models know a tool: Claude by its canonical name, others in snake_case.
func bindings(name, snake string) map[string][]agent.Binding {
	as := func(called string) agent.Binding {
		b := agent.Called(name, called)
		b.Lenience.Synonyms = map[string]string{"worktree": "name", "discardChanges": "discard_changes"}
		b.Lenience.Ignored = []string{"id"} // a session is in one at most
		return b
	}
	return map[string][]agent.Binding{"anthropic": {as(name)}, "openai": {as(snake)}, "gemini": {as(snake)}, "spec": {as(snake)}}
}
