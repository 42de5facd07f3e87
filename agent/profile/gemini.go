package profile

import (
	"cmp"
	"fmt"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/tool"
)

type geminiRead struct {
	FilePath  string `json:"file_path" also:"path,file,filename,absolute_path" jsonschema:"the file to read, absolute or relative to the working directory"`
	StartLine int    `json:"start_line,omitempty" also:"offset" jsonschema:"number of the first line to read, counted from 1"`
	EndLine   int    `json:"end_line,omitempty" jsonschema:"number of the last line to read"`
	Limit     int    `json:"limit,omitempty"`
}

func (r geminiRead) own() tool.ReadInput {
	in := tool.ReadInput{FilePath: r.FilePath, Offset: r.StartLine, Limit: r.Limit}
	if r.EndLine > 0 {
		in.Limit = max(r.EndLine-max(r.StartLine, 1)+1, 1)
	}
	return in
}

type geminiReadMany struct {
	Include []string `json:"include" also:"paths,files" jsonschema:"files, and patterns of files such as src/**/*.go"`
	Exclude []string `json:"exclude,omitempty" jsonschema:"patterns of files to leave out"`
}

func (r geminiReadMany) own() tool.ReadManyInput {
	return tool.ReadManyInput{Paths: r.Include, Exclude: r.Exclude}
}

type geminiReplace struct {
	FilePath      string `json:"file_path" also:"path,file,filename" jsonschema:"the file to change, absolute or relative to the working directory"`
	Instruction   string `json:"instruction" jsonschema:"what the change is for, in a sentence"`
	OldString     string `json:"old_string" also:"old_str,old_text" jsonschema:"the text to replace, as it stands in the file"`
	NewString     string `json:"new_string" also:"new_str,new_text" jsonschema:"the text to put in its place"`
	AllowMultiple bool   `json:"allow_multiple,omitempty" also:"replace_all" jsonschema:"replace every occurrence instead of the only one"`
}

func (r geminiReplace) own() tool.EditInput {
	return tool.EditInput{FilePath: r.FilePath, OldString: r.OldString, NewString: r.NewString, ReplaceAll: r.AllowMultiple, Fuzzy: true}
}

type geminiGrep struct {
	Pattern         string `json:"pattern" also:"query,regex" jsonschema:"the regular expression to search for"`
	DirPath         string `json:"dir_path,omitempty" also:"path,file_path,directory" jsonschema:"the file or directory to search, the working directory if left out"`
	IncludePattern  string `json:"include_pattern,omitempty" also:"include,glob,glob_filter" jsonschema:"search only files that match, such as *.go or src/**/*.ts"`
	NamesOnly       bool   `json:"names_only,omitempty" jsonschema:"list only the files that have a match"`
	CaseSensitive   bool   `json:"case_sensitive,omitempty" jsonschema:"tell capital letters from small ones"`
	FixedStrings    bool   `json:"fixed_strings,omitempty" also:"-F,literal" jsonschema:"take the pattern as plain text"`
	Context         int    `json:"context,omitempty" also:"-C" jsonschema:"lines to show around each match"`
	Before          int    `json:"before,omitempty" also:"-B" jsonschema:"lines to show before each match"`
	After           int    `json:"after,omitempty" also:"-A" jsonschema:"lines to show after each match"`
	TotalMaxMatches int    `json:"total_max_matches,omitempty" also:"max_results,head_limit,limit" jsonschema:"how many lines of results to give, 100 if left out"`
	Multiline       bool   `json:"multiline,omitempty"`
}

func (g geminiGrep) own() tool.GrepInput {
	mode := env.GrepContent
	if g.NamesOnly {
		mode = env.GrepFiles
	}
	return tool.GrepInput{
		Pattern: g.Pattern, Path: g.DirPath, Glob: g.IncludePattern, IgnoreCase: !g.CaseSensitive, OutputMode: string(mode),
		Fixed: g.FixedStrings, Multiline: g.Multiline,
		GrepView: tool.GrepView{Context: g.Context, Before: g.Before, After: g.After, HeadLimit: cmp.Or(g.TotalMaxMatches, maxMatches)},
	}
}

type geminiGlob struct {
	Pattern string `json:"pattern" also:"glob,query" jsonschema:"the pattern that paths must match, such as **/*.go"`
	DirPath string `json:"dir_path,omitempty" also:"path,directory" jsonschema:"the directory to search, the working directory if left out"`
}

func (g geminiGlob) own() tool.GlobInput { return tool.GlobInput{Pattern: g.Pattern, Path: g.DirPath} }

type geminiListDir struct {
	DirPath string   `json:"dir_path" also:"path,directory" jsonschema:"the directory to list"`
	Depth   int      `json:"depth,omitempty" jsonschema:"how many levels to list, 1 if left out"`
	Ignore  []string `json:"ignore,omitempty" jsonschema:"patterns of names to leave out"`
}

func (l geminiListDir) own() tool.ListDirInput {
	return tool.ListDirInput{Path: l.DirPath, Depth: l.Depth, Ignore: l.Ignore}
}

// geminiBindings define the tools as Gemini's models know them (LOOP-31,
// LOOP-111).
var geminiBindings = sync.OnceValue(func() []agent.Binding {
	terms := []string{
		"use Write", "use write_file", "use Glob", "use glob", "with Grep", "with grep_search",
		"offset and limit", "start_line and end_line", "replace_all", "allow_multiple",
		"path, glob or type", "dir_path or include_pattern", "head_limit", "total_max_matches",
	}
	return append([]agent.Binding{
		picky(speaking(written(bind("Read", "read_file", "read-gemini", geminiRead.own), writePlain), terms...)),
		ignoring(speaking(bind("ReadMany", "read_many_files", "readmany", geminiReadMany.own), terms...),
			"wait_for_previous", "recursive", "useDefaultExcludes"),
		picky(speaking(bind("Write", "write_file", "write", same[tool.WriteInput]), terms...)),
		known(picky(speaking(bind("Edit", "replace", "edit-gemini", geminiReplace.own), terms...)), "edit"),
		known(picky(speaking(written(bind("Grep", "grep_search", "grep-gemini", geminiGrep.own), writeGrouped), terms...)), "search_file_content"),
		picky(speaking(bind("Glob", "glob", "glob", geminiGlob.own), terms...)),
		ignoring(written(bind("ListDir", "list_directory", "listdir", geminiListDir.own), writeListing), "wait_for_previous"),
	}, geminiCommands()...)
})

// writePlain writes lines unchanged, after a note about what is left out.
func writePlain(page env.Page, r agent.Result, cut func(string) string) string {
	if len(page.Lines) == 0 {
		return cut(r.Output)
	}
	return page.Note() + remainder(page, "start_line") + cut(strings.Join(page.Lines, "\n"))
}

// maxGrouped limits the lines of matches grouped by file, so that the result
// stays within the lines that a search may have (LOOP-40).
const maxGrouped = 197

// writeGrouped writes matches grouped by file. Lists of files stay unchanged.
func writeGrouped(hits env.Hits, r agent.Result, cut func(string) string) string {
	if len(hits.Lines) == 0 || len(hits.PathEnds) < len(hits.Lines) {
		return cut(r.Output)
	}
	var b strings.Builder
	matches, lines, current := 0, 0, ""
	for i, line := range hits.Lines {
		if lines > maxGrouped { // a line more would cut the middle
			hits.More = true
			break
		}
		lines++
		path, text := line[:hits.PathEnds[i]], line[hits.PathEnds[i]:]
		if path == "" {
			b.WriteString(text + "\n")
			continue
		}
		if path != current {
			current = path
			fmt.Fprintf(&b, "---\nFile: %s\n", path)
			lines += 2
		}
		mark, number, text := numbered(text)
		if mark == ":" {
			matches++
		}
		fmt.Fprintf(&b, "L%s%s %s\n", number, mark, text)
	}
	head := fmt.Sprintf("Found %d matches\n", matches)
	if hits.More || hits.TimedOut {
		head = fmt.Sprintf("Found more than %d matches; these are the first\n", matches)
	}
	return head + cut(b.String())
}

// numbered splits the text after a path: a mark, which is a colon for a match,
// the line's number, the mark again and the line.
func numbered(rest string) (mark, number, text string) {
	mark, rest = rest[:1], rest[1:]
	number, text, _ = strings.Cut(rest, mark)
	return mark, number, text
}

// unread is the note about an unreadable directory.
var unread = map[bool]string{true: " (cannot be read)"}

// writeListing writes directories first, then files with their sizes.
func writeListing(entries []env.Entry, r agent.Result, cut func(string) string) string {
	if len(entries) == 0 {
		return cut(r.Output)
	}
	var b strings.Builder
	for _, e := range entries {
		if e.Dir {
			fmt.Fprintf(&b, "[DIR] %s%s\n", e.Path, unread[e.Unreadable])
		} else {
			fmt.Fprintf(&b, "%s (%d bytes)\n", e.Path, e.Size)
		}
	}
	if len(entries) == env.MaxEntries {
		b.WriteString("[There may be more.]\n")
	}
	return cut(b.String())
}
