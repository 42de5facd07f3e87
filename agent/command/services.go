package command

import (
	"slices"
	"strings"
)

// This file has archiveUsages, programs that search, and questions to services. A program with
// commands has an entry in [programs] for each that only reads.

// findsNames adds the current folder, where fd searches unless it is given others. The
// pattern counts as a file.
func findsNames(c *call, read *reading) bool {
	folders := []string{"."}
	if len(c.operands) > 1 {
		folders = nil
		for _, w := range c.operands[1:] {
			if w.pattern != "" {
				return false
			}
			folders = append(folders, w.text)
		}
	}
	read.paths = append(read.paths, ".")
	if !c.has("a", "absolute-path", "color") {
		read.lists = nameList{trees: folders, zero: c.has("0", "print0"), bare: true}
	}
	return true
}

// unpackers are run by tar for what it finds compressed.
var unpackers = strings.Fields("gzip bzip2 xz lzma lzip lzop zstd compress")

// listsTar accepts tar for the names in one file. With a colon that is one of another
// machine, which tar connects to.
func listsTar(c *call, read *reading) bool {
	archive := ""
	for _, o := range c.options {
		if o.name == "f" || o.name == "file" {
			if archive != "" {
				return false
			}
			archive = o.value
		}
	}
	if archive == "" || !c.has("t", "list") || archive != "-" && strings.Contains(archive, ":") || !isPath(archive) {
		return false
	}
	if archive != "-" {
		read.paths = append(read.paths, archive)
	}
	read.perhaps = unpackers
	return true
}

// listsZip accepts unzip and zipinfo for the names in one file. They take its name for a
// pattern, and try it with the ending .zip.
func listsZip(c *call, read *reading) bool {
	if len(c.operands) == 0 || read.program == "unzip" && !c.has("l", "v", "Z") {
		return false
	}
	archive := c.operands[0]
	if archive.pattern != "" || !isPath(archive.text) || strings.ContainsAny(archive.text, "*?[") {
		return false
	}
	read.paths = append(read.paths, archive.text, archive.text+".zip")
	return true
}

// asksGitHub accepts questions about repositories of the host to which gh would talk
// anyway: an address may be one of another, to which it would send its token. Its
// filters must not print variables.
func asksGitHub(c *call, read *reading) bool {
	read.git = !c.has("R", "repo")
	for _, o := range c.options {
		switch o.name {
		case "R", "repo":
			if strings.Count(o.value, "/") != 1 || strings.ContainsAny(o.value, ":@") {
				return false
			}
		case "q", "jq":
			if jqReads().MatchString(o.value) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(c.operands, func(w word) bool {
		return w.pattern != "" || strings.ContainsAny(w.text, ":@") || strings.Count(w.text, "/") > 1
	})
}

// entry returns the harmless use of a command, and its arguments. The name of a program
// with commands has up to three words.
func entry(words []word) (u usage, arguments []word, ok bool) {
	p := row(words[0].text)
	if p.usage != nil && p.usage.asks == "" {
		return *p.usage, words[1:], true
	}
	name := ""
	for i, w := range words[1:] {
		if i == 2 || w.pattern != "" {
			break
		}
		name = strings.TrimSpace(name + " " + w.text)
		if u, ok = p.queries[name]; ok {
			return u, words[i+2:], true
		}
	}
	return usage{}, nil, false
}

// withoutNamed leaves out the values that jq is given under a name: --arg NAME VALUE.
func withoutNamed(words []word) ([]word, bool) {
	var rest []word
	for i := 0; i < len(words); i++ {
		if words[i].text != "--arg" && words[i].text != "--argjson" {
			rest = append(rest, words[i])
			continue
		}
		if i+2 >= len(words) || !words[i+1].isValue() || !words[i+2].isValue() {
			return nil, false
		}
		i += 2
	}
	return rest, true
}

// withDash writes the options of tar as options: tar tf is tar -tf.
func withDash(words []word) []word {
	if len(words) > 0 && words[0].pattern == "" && words[0].text != "" && strings.Trim(words[0].text, "tvzjJf") == "" {
		words = slices.Clone(words)
		words[0].text = "-" + words[0].text
	}
	return words
}
