package shell

import (
	"slices"
	"strings"
)

// This file has archives, programs that search, and questions to services. A program with
// commands has an entry in [programs] for each that only reads.

// fd searches names. It runs another program with -x, -X and -l, which are left out.
var fd = program{
	flags: "HIusigFpa01q", values: "deEtSj", here: true, check: findsNames,
	long: "hidden no-ignore no-ignore-vcs case-sensitive ignore-case glob fixed-strings full-path absolute-path print0 quiet regex " +
		"max-depth= min-depth= exact-depth= extension= exclude= type= size= changed-within= changed-before= newer= older= max-results= color= and=",
}

// findsNames adds the current folder, where fd searches unless it is given others. The
// pattern counts as a file.
func findsNames(c *call, read *command) bool {
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

// archives list the names in archives.
var archives = map[string]program{
	"tar":     {flags: "tvzjJ", values: "f", long: "list verbose file= gzip bzip2 xz zstd numeric-owner full-time wildcards no-recursion", operands: texts, check: listsTar},
	"bsdtar":  {flags: "tvzjJ", values: "f", long: "list verbose", operands: texts, check: listsTar},
	"unzip":   {flags: "lvZ1", check: listsZip, operands: texts},
	"zipinfo": {flags: "12smlvhtTz", check: listsZip, operands: texts},
}

// unpackers are run by tar for what it finds compressed.
var unpackers = strings.Fields("gzip bzip2 xz lzma lzip lzop zstd compress")

// listsTar accepts tar for the names in one file. With a colon that is one of another
// machine, which tar connects to.
func listsTar(c *call, read *command) bool {
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
func listsZip(c *call, read *command) bool {
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

// services are questions to GitHub and to what runs containers. Their answers come
// from where the user is signed in.
var services = map[string]program{
	"docker ps":           {flags: "aqnls", values: "f", long: "all filter= format= last= latest no-trunc quiet size", operands: none},
	"docker container ls": {flags: "aqnls", values: "f", long: "all filter= format= last= latest no-trunc quiet size", operands: none},
	"docker images":       {flags: "aq", values: "f", long: "all digests filter= format= no-trunc quiet tree", operands: texts},
	"docker image ls":     {flags: "aq", values: "f", long: "all digests filter= format= no-trunc quiet tree", operands: texts},
	"docker logs":         {flags: "t", values: "n", long: "details since= tail= timestamps until=", operands: texts},
	"docker top":          {operands: texts},
	"docker port":         {operands: texts},
	"docker volume ls":    {flags: "q", values: "f", long: "filter= format= quiet", operands: none},
	"docker network ls":   {flags: "q", values: "f", long: "filter= format= quiet no-trunc", operands: none},
	"docker compose ls":   {flags: "aq", long: "all filter= format= quiet", operands: none},

	"gh pr list": {values: "sLAaBHlSRjqt", long: ghLists + " base= head= draft", operands: none, check: asksGitHub},
	"gh pr view": {flags: "c", values: "Rjqt", long: ghViews, operands: texts, check: asksGitHub}, "gh pr diff": {values: "R", long: "color= name-only patch repo=", operands: texts, check: asksGitHub},
	"gh pr checks":     {values: "Rjqt", long: "required " + ghViews, operands: texts, check: asksGitHub},
	"gh pr status":     {flags: "c", values: "Rjqt", long: "conflict-status " + ghViews, operands: none, check: asksGitHub},
	"gh issue list":    {values: "sLAalSRmjqt", long: ghLists + " mention= milestone=", operands: none, check: asksGitHub},
	"gh issue view":    {flags: "c", values: "Rjqt", long: ghViews, operands: texts, check: asksGitHub},
	"gh issue status":  {values: "Rjqt", long: ghViews, operands: none, check: asksGitHub},
	"gh run list":      {flags: "a", values: "bceLsuwRjqt", long: ghLists + " all branch= commit= event= status= user= workflow= created=", operands: none, check: asksGitHub},
	"gh run view":      {flags: "v", values: "ajRqt", long: "log log-failed verbose job= attempt= exit-status " + ghViews, operands: texts, check: asksGitHub},
	"gh release list":  {values: "LORjqt", long: ghLists + " order= exclude-drafts exclude-pre-releases", operands: none, check: asksGitHub},
	"gh release view":  {values: "Rjqt", long: ghViews, operands: texts, check: asksGitHub},
	"gh workflow list": {flags: "a", values: "LRjqt", long: "all " + ghLists, operands: none, check: asksGitHub},
	"gh label list":    {values: "LSRjqt", long: "sort= order= " + ghLists, operands: none, check: asksGitHub},
	"gh repo view":     {values: "bjqt", long: "branch= " + ghViews, operands: texts, check: asksGitHub},
}

const (
	ghViews = "comments json= jq= template= repo="
	ghLists = "state= limit= author= assignee= label= search= app= json= jq= template= repo="
)

// asksGitHub accepts questions about repositories of the host to which gh would talk
// anyway: an address may be one of another, to which it would send its token. Its
// filters must not print variables.
func asksGitHub(c *call, read *command) bool {
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

// entry returns the entry of the table for a command, and its arguments. The name of
// a program with commands has up to three words.
func entry(words []word) (p program, arguments []word, ok bool) {
	name := words[0].text
	if p, ok = programs[name]; ok {
		return p, words[1:], true
	}
	if p, ok = archives[name]; ok {
		return p, words[1:], true
	}
	if name == "podman" {
		name = "docker"
	}
	for i, w := range words[1:] {
		if i == 2 || w.pattern != "" {
			break
		}
		name += " " + w.text
		if p, ok = services[name]; ok {
			return p, words[i+2:], true
		}
	}
	return program{}, nil, false
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
