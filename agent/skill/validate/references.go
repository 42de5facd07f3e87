package validate

import (
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// fenceMark is what a block of code begins or ends with, also in a list or a quotation.
var fenceMark = lazily("^[\\s>]*(?:(?:[-*+]|\\d{1,9}[.)])\\s+)?(`{3,}|~{3,})(.*)$")

// withoutCode returns a text in which the lines of blocks of code are empty.
func withoutCode(text string) string {
	var out strings.Builder
	open := "" // the mark of the open block
	for line := range strings.Lines(text) {
		var m []string
		if strings.Contains(line, "```") || strings.Contains(line, "~~~") {
			m = fenceMark().FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		}
		inside := open != ""
		switch {
		case m == nil:
		case !inside && (m[1][0] == '~' || !strings.Contains(m[2], "`")):
			open, inside = m[1], true
		case inside && strings.HasPrefix(m[1], open) && strings.TrimSpace(m[2]) == "":
			open = ""
		}
		switch {
		case !inside:
			out.WriteString(line)
		case strings.HasSuffix(line, "\n"):
			out.WriteByte('\n')
		}
	}
	return out.String()
}

var codeSpan = lazily("``[^`]+``|`[^`]+`")

// withoutSpans returns a line in which the code between backticks is blank.
func withoutSpans(line string) string {
	return codeSpan().ReplaceAllStringFunc(line, func(code string) string { return strings.Repeat(" ", len(code)) })
}

// Prefixes of paths that exist on one computer only; they begin a word.
var (
	homePath  = lazily("(?:^|[\\s\"'`(\\[=:,;<>|]|file://)(/(?:Users|home)/[^\\s\"'`)\\]<>|,;]*)")
	drivePath = lazily("(?:^|[\\s\"'`(\\[=,;<>|]|file:///)([A-Z]:\\\\{1,2}[^\\s\"'`)\\]<>|,;]*)")
	escapes   = lazily(`^[A-Z]:\\[nrt](?:[^a-z]|$)`) // "Q:\nA:" is not a path
	someone   = lazily(`(?i)^(?:/(?:Users|home)|[A-Z]:\\{1,2}(?:Users)?)[/\\]{0,2}(?:$|[.…*{$<\[]|(?:your|my|user)[-_]?(?:name|user)|path)`)
)

// sample matches what comes before an example, and a row of a table.
var sample = lazily(`(?i)^\s*\|.*\||\be\.\s?g\.|\bi\.\s?e\.|\bexamples?\b|\bfor instance\b|\bsuch as\b|\blike\b|例如|比如|示例`)

// brief matches a drive's path that stands for any other, such as C:\x or C:\temp\….
var brief = lazily(`(?i)^[A-Z]:\\{1,2}(?:[a-z]{0,3}|temp|path|some\w*|dir|folder|file\S*)(?:\\|$)`)

// isExample reports whether a path in a line is an example.
func isExample(line, path string) bool {
	before, _, _ := strings.Cut(line, path)
	return someone().MatchString(path) || brief().MatchString(path) || sample().MatchString(before)
}

// absolutePaths returns the paths in a line that exist on one computer only. Those that
// are examples, such as /home/<you>, are left out; the BMAD preset reports them all the same.
func absolutePaths(line string, preset Preset) []string {
	var out []string
	if !strings.Contains(line, "/Users/") && !strings.Contains(line, "/home/") && !strings.Contains(line, `:\`) {
		return nil
	}
	for _, m := range append(homePath().FindAllStringSubmatch(line, -1), drivePath().FindAllStringSubmatch(line, -1)...) {
		if escapes().MatchString(m[1]) || preset != BMAD && isExample(line, m[1]) {
			continue
		}
		out = append(out, strings.TrimRight(m[1], ".:!?"))
	}
	return out
}

// Forms of references.
var (
	link       = lazily(`\]\(\s*(<[^>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+["'(][^\n]*?)?\s*\)`)
	definition = lazily(`^ {0,3}\[[^\]^][^\]]*\]:\s+(<[^>]+>|\S+)`)
	exec       = lazily(`\bexec="([^"\n]+)"`)
	invoked    = lazily(`<invoke-task>([^<\n]+)</invoke-task>`)
	loaded     = lazily("\\bLoad:?\\s+`(\\.[^`\n]+)`")
	stepLink   = lazily(`^\s*(?:\w+StepFile|workflowFile):\s*["']?(\.[^"'\n]+?)["']?\s*$`)
	quoted     = lazily(`["'](\.\.?/[^"'\n]+\.(?:md|yaml|yml|xml|json|csv|txt))["']`)
	// A variable for the skill's or the project's folder, and the path that follows it.
	anchored   = lazily("(\\$\\{CLAUDE_SKILL_DIR\\}|\\{baseDir\\}|\\{skill-root\\}|\\$\\{CLAUDE_PROJECT_DIR\\}|\\{project[-_]root\\})/([^\\s\"'`<>()\\[\\]]*)")
	scheme     = lazily(`^(?:[A-Za-z][A-Za-z0-9+.-]*:|//|/|#|~|\?)`)
	knownKinds = strings.Fields(".md .mdx .txt .rst .py .js .mjs .cjs .ts .tsx .jsx .sh .bash .ps1 .rb .go .rs .json .jsonl .yaml .yml .toml .xml .csv .tsv .html .css .png .jpg .jpeg .gif .svg .webp .pdf .docx .xlsx .pptx")
)

// references checks what a Markdown or YAML file refers to.
func (c *checker) references(file, text string) {
	if c.at == nil {
		return
	}
	plain := strings.Split(withoutCode(text), "\n")
	for i, line := range strings.Split(text, "\n") {
		if !strings.ContainsAny(line, "[]{}<>\"'`:") {
			continue // which most lines are
		}
		prose := withoutSpans(plain[i])
		for _, e := range []*regexp.Regexp{exec(), invoked()} {
			for _, m := range e.FindAllStringSubmatch(prose, -1) {
				c.refer(refExec, file, i+1, strings.TrimSpace(m[1]))
			}
			line = e.ReplaceAllString(line, "")
		}
		for _, m := range anchored().FindAllStringSubmatch(line, -1) { // also in code: it says what it means
			if m[2] != "" {
				c.refer(refFile, file, i+1, m[0])
			}
		}
		if handedOn(file) && c.o.Preset != BMAD {
			continue
		}
		forms := []*regexp.Regexp{link(), definition(), stepLink()}
		if c.o.Preset == BMAD {
			forms = append(forms, quoted())
		}
		for _, e := range forms {
			for _, m := range e.FindAllStringSubmatch(prose, -1) {
				c.refer(refFile, file, i+1, strings.Trim(m[1], "<>"))
			}
		}
		for _, m := range loaded().FindAllStringSubmatch(plain[i], -1) {
			c.refer(refFile, file, i+1, m[1])
		}
	}
}

// refer finds a reference that leads to nothing.
func (c *checker) refer(r rule, file string, line int, written string) {
	target, _, _ := strings.Cut(written, "#")
	target, _, _ = strings.Cut(target, "?")
	target = strings.TrimRight(target, ".,;:!*_")
	if m := anchored().FindStringSubmatch(target); m != nil {
		if strings.HasPrefix(target, m[0]) && !placeholder(m[2]) && c.isMissing(m[1], m[2]) {
			c.find(r, file, line, written)
		}
		return
	}
	if text, err := url.PathUnescape(target); err == nil {
		target = text
	}
	if isReference(target, r) && c.misses(path.Dir(file), target) {
		c.find(r, file, line, written)
	}
}

// isReference reports whether a text is a relative path and no example.
func isReference(target string, r rule) bool {
	if target == "" || scheme().MatchString(target) || placeholder(target) || strings.ContainsAny(target, "\\\x00") {
		return false
	}
	if strings.HasPrefix(target, "./") || strings.HasPrefix(target, "../") {
		return true
	}
	first, _, below := strings.Cut(target, "/")
	if below && strings.Contains(first, ".") && r != refExec {
		return false // example.com/page.html
	}
	return slices.Contains(knownKinds, strings.ToLower(path.Ext(target)))
}

// placeholder reports whether a path stands for others.
func placeholder(target string) bool {
	return strings.ContainsAny(target, "{}<>$*|…") || strings.Contains(target, "...") || strings.Contains(target, "path/to")
}

// maxLooked limits how many references of a skill are looked up.
const maxLooked = 5000

// misses reports whether a relative path leads to nothing from a file's folder, the skill's
// and the project's.
func (c *checker) misses(from, target string) bool {
	known := false
	for _, candidate := range []string{path.Join(from, target), path.Clean(target)} {
		exists, decided := c.at.has(candidate)
		if exists {
			return false
		}
		known = known || decided
	}
	if c.at.project != nil && !strings.HasPrefix(target, ".") {
		if exists, _ := c.at.inProject(path.Clean(target)); exists {
			return false
		}
	}
	return known
}

// isMissing reports whether a path below the skill's or the project's folder leads to nothing.
func (c *checker) isMissing(variable, target string) bool {
	target = path.Clean(target)
	if !strings.Contains(strings.ToLower(variable), "project") {
		exists, decided := c.at.has(target)
		return decided && !exists
	}
	if c.at.project == nil {
		return false
	}
	// BMAD's modules stand below _bmad where they are installed, and below src in their own
	// repository. Some files are written by the installation.
	candidates := []string{target}
	if module, ok := strings.CutPrefix(target, "_bmad/"); ok {
		if strings.HasPrefix(module, "_config/") || strings.HasPrefix(module, "custom/") || path.Base(module) == "config.yaml" {
			return false
		}
		candidates = append(candidates, "src/"+module, "src/modules/"+module)
	}
	return !slices.ContainsFunc(candidates, func(candidate string) bool {
		exists, decided := c.at.inProject(candidate)
		return exists || !decided
	})
}

// has reports whether a path relative to the skill's folder exists, as far as that can be told.
func (p *place) has(file string) (exists, decided bool) {
	if filepath.IsLocal(filepath.FromSlash(file)) {
		return p.look(p.root, file)
	}
	if p.project == nil || p.within == "" {
		return false, false
	}
	file = path.Join(p.within, file)
	if !filepath.IsLocal(filepath.FromSlash(file)) {
		return false, true // it leads out of the project
	}
	return p.look(p.project, file)
}

func (p *place) inProject(file string) (exists, decided bool) {
	if !filepath.IsLocal(filepath.FromSlash(file)) {
		return false, true
	}
	return p.look(p.project, file)
}

func (p *place) look(root *os.Root, file string) (exists, decided bool) {
	if p.looked++; p.looked > maxLooked {
		return false, false
	}
	_, err := root.Stat(filepath.FromSlash(file))
	return err == nil, err == nil || errors.Is(err, fs.ErrNotExist)
}

// fileColumn is the head of a column that names files.
var fileColumn = lazily(`(?i)^(?:workflow|instructions?|template|step|task|exec|reference)[-_ ](?:file|path)$`)

const maxRows = 10_000

// table checks the files that a table names.
func (c *checker) table(file, text string) {
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = -1, true, true
	var columns []int
	for row := range maxRows {
		record, err := r.Read()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				c.find(unread, file, 0, err.Error())
			}
			return
		}
		if row == 0 {
			for i, head := range record {
				if fileColumn().MatchString(strings.TrimSpace(head)) {
					columns = append(columns, i)
				}
			}
			if columns == nil {
				return
			}
			continue
		}
		for _, i := range columns {
			if i < len(record) && path.Ext(record[i]) != "" {
				line, _ := r.FieldPos(i)
				c.entry(file, line, strings.TrimSpace(record[i]))
			}
		}
	}
}

// entry checks one file that a table names.
func (c *checker) entry(file string, line int, target string) {
	if module, ok := strings.CutPrefix(target, "_bmad/"); ok {
		target = "{project-root}/_bmad/" + module
	}
	if leaks := absolutePaths(target, c.o.Preset); len(leaks) > 0 {
		c.find(refPath, file, line, leaks[0])
		return
	}
	c.refer(refTable, file, line, target)
}

// lazily compiles an expression when it is first needed. Few programs need any of them, and
// compiling them all would delay every start.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
