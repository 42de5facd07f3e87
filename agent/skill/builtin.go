package skill

import (
	"embed"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"atelier.dev/atelier/agent/internal/filetree"
)

// builtin has a folder with a SKILL.md for each built-in skill.
//
//go:embed builtin
var builtin embed.FS

// needs are the files of which a folder has to have one for a built-in skill to be of use.
// A name stands for every file that begins with it: jest.config.js is a jest.config.
var needs = map[string][]string{
	"test": {"Package.swift", "pytest.ini", "jest.config", "vitest.config", "Cargo.toml", "go.mod"},
}

var builtIn = sync.OnceValue(func() []Skill {
	folders, _ := builtin.ReadDir("builtin")
	var skills []Skill
	for _, folder := range folders {
		text, err := builtin.ReadFile("builtin/" + folder.Name() + "/SKILL.md")
		if err == nil {
			skills = append(skills, Parse(Place{Kind: KindBuiltIn}, folder.Name(), string(text), nil))
		}
	}
	return skills
})

// BuiltIn returns the skills that come with the program, by their names.
func BuiltIn() []Skill { return slices.Clone(builtIn()) }

// Available says why a skill cannot be used in a folder; it is empty if it can.
func (s Skill) Available(folder string) string {
	wanted := needs[s.Name]
	if s.Usage.Unavailable != "" || s.Place.Kind != KindBuiltIn || len(wanted) == 0 {
		return s.Usage.Unavailable
	}
	if hasOneOf(folder, wanted) {
		return ""
	}
	return "the folder has none of " + strings.Join(wanted, ", ")
}

// hasOneOf reports whether a folder has a file whose name is one of those, or begins with
// one and a dot.
func hasOneOf(folder string, names []string) bool {
	for _, name := range names {
		if info, err := os.Stat(filepath.Join(folder, name)); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	dir, err := os.Open(folder)
	if err != nil {
		return false
	}
	defer dir.Close()
	entries, _ := dir.ReadDir(filetree.MaxEntries)
	for _, entry := range entries {
		if !entry.IsDir() && slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(entry.Name(), name+".") }) {
			return true
		}
	}
	return false
}
