package export_test

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
)

// article returns what the HTML of a message has.
func article(t testing.TB, message string) string {
	t.Helper()
	_, after, found := strings.Cut(write(t, "html", "", said(message)), "<article dir=\"auto\">\n")
	inside, _, ended := strings.Cut(after, "</article>")
	if !found || !ended {
		t.Fatalf("no article for %q", message)
	}
	return inside
}

// An HTML document shows Markdown as the window does.
func TestRenderedMarkdown(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		message string
		want    []string
		not     []string
	}{
		"table":           {"| a | b |\n|---|--:|\n| 1 | `2` |", []string{"<th>a</th>", `<th style="text-align:right">b</th>`, "<td>1</td>", "<code>2</code>"}, []string{"|"}},
		"table in a list": {"- x\n\n  | a |\n  |---|\n  | 1 |", []string{"<li>", "<td>1</td>"}, []string{"|"}},
		"emphasis":        {"*prefix* and ***both*** and ~~gone~~ and snake_case_name", []string{"<em>prefix</em>", "<em><strong>both</strong></em>", "<del>gone</del>", "snake_case_name"}, []string{"*", "~"}},
		"nested list":     {"- a\n  - b\n    1. c", []string{"<li>a\n<ul>\n<li>b\n<ol>\n<li>c</li>"}, nil},
		"numbering":       {"4. four\n5. five\n\ntext\n\n9) nine", []string{`<ol start="4"`, `<ol start="9"`}, nil},
		"code in an item": {"1. Do:\n   ```sh\n   a  b\n   ```\n2. Then", []string{"<pre tabindex=\"0\" dir=\"ltr\">a  b</pre>", "<li>Then</li>"}, []string{"<ol start", "```"}},
		"tasks":           {"- [x] done\n- [ ] open", []string{"☑ done", "☐ open"}, []string{"<input", "[x]"}},
		"headings":        {"# One\n\nTwo\n---\n\n###### Six", []string{`<h2 dir="auto">One</h2>`, `<h3 dir="auto">Two</h3>`, `<h4 dir="auto">Six</h4>`}, []string{"<h1", "<h6"}},
		"quotation":       {"> a\n> > b", []string{"<blockquote>\n<p>b</p>"}, []string{"&gt;"}},
		"rule and breaks": {"a\\\nb\n\n---\n\nc", []string{"<br>", "<hr"}, nil},
		"footnotes":       {"See[^1].\n\n[^1]: The note.\n[^2]: Unused.", []string{"<sup>1</sup>", "The note.", "Unused."}, []string{"[^", "href"}},
		"link": {"[docs](https://x.example/a?b=1&c=2) <https://y.example> https://z.example/p.", []string{
			`<a href="https://x.example/a?b=1&amp;c=2" rel="noopener noreferrer nofollow">docs</a> <small>(https://x.example/a?b=1&amp;c=2)</small>`, `">https://y.example</a>`, `">https://z.example/p</a>.`}, nil},
		"other links":   {"[a](src/a.ts#L3) [b](javascript:alert(1)) [c](&#106;avascript:x) [d](ftp://x.example) <mailto:a@b.example> [e](//x.example)", []string{"a b c d"}, []string{"href"}},
		"picture":       {"![a *b*](https://x.example/p.png) ![](data:image/png;base64,AA)", []string{`>a b</a>`, "data:image/png"}, []string{"<img", "<em>", `href="data`}},
		"HTML":          {"<b>x</b>\n\n<div onclick=x>\n\n<!-- c -->\n\n<script>y</script>", []string{"&lt;b&gt;x&lt;/b&gt;", "&lt;div onclick=x&gt;", "&lt;!-- c --&gt;", "&lt;script&gt;"}, []string{"<b>", "<!--"}},
		"math":          {`$a_1 * b_2 * c$, \(x_1^2\), $$\int_0^1$$ and \[y = \{1, 2\}\]`, []string{`>$a_1 * b_2 * c$</code>`, `>\(x_1^2\)</code>`, `>$$\int_0^1$$</code>`, `>\[y = \{1, 2\}\]</code>`}, []string{"<em>"}},
		"math in lines": {"$$\na\n+ b\n- c \\\\\n$$\n\n\\[\nx < y\n\\].", []string{"<pre class=\"math\" tabindex=\"0\" dir=\"ltr\">$$\na\n+ b\n- c \\\\\n$$</pre>", "\\[\nx &lt; y\n\\]."}, []string{"<ul>", "<p "}},
		"no math":       {"It costs $5 and $6, `$HOME` or $HOME and $PATH, \\[a\\] \\(bc de\\)\n\n$$\nopen", []string{"It costs $5 and $6", "or $HOME and $PATH, [a] (bc de)", "open"}, []string{"math"}},
		"Chinese":       {"**注意**：请看*这里*。", []string{"<strong>注意</strong>：请看<em>这里</em>。"}, []string{"*"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := article(t, tt.message)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q is not in\n%s", want, got)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(got, not) {
					t.Errorf("%q is in\n%s", not, got)
				}
			}
		})
	}
}

// Blocks of a known language have the colours of the window, in either theme. Without
// classes their text is what was written.
func TestColouredCode(t *testing.T) {
	t.Parallel()
	tags := regexp.MustCompile(`</?span[^>]*>`)
	for _, tt := range []struct {
		language, code string
		want           []string
	}{
		{"go", "// Run runs.\nfunc Run() error { return fmt.Errorf(\"a %d\", 1) }", []string{`<span class="c-keyword">func</span>`, `<span class="c-name">Run</span>`, `c-comment`, `<span class="c-number">1</span>`, `c-text`}},
		{"ts", "const a: string = `<b>${x}`", []string{`<span class="c-keyword">const</span>`, "&lt;b&gt;"}},
		{"python", "def f(x):\n    return None # none", []string{`<span class="c-keyword">def</span>`, `<span class="c-name">f</span>`}},
		{"json", `{"a": [1, true]}`, []string{`<span class="c-number">1</span>`}},
		{"diff", "-old\n+new\n same", []string{`<span class="c-gone">-old`, `<span class="c-text">+new`}},
		{"sh", "for f in *; do echo \"$f\"; done", []string{`<span class="c-keyword">for</span>`}},
		{"Go {linenos=true}", "package a", []string{`<span class="c-keyword">package</span>`}},
		{"", "func Run()", []string{`ltr">func Run()</pre>`}},
		{"nonsense", "func <Run>()", []string{`ltr">func &lt;Run&gt;()</pre>`}},
		{"go", "var x = 1 // " + strings.Repeat("long ", 20_000), []string{`ltr">var x = 1`}},
	} {
		got := article(t, "```"+tt.language+"\n"+tt.code+"\n```\nafter")
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is not in\n%.2000s", tt.language, want, got)
			}
		}
		if plain := html.UnescapeString(tags.ReplaceAllString(got, "")); !strings.Contains(plain, ">"+tt.code+"</pre>") {
			t.Errorf("%s: the text of the code has changed:\n%.2000s", tt.language, plain)
		}
	}
}

// Markdown in a fence may have fences of the same length, as in the window.
func TestFencesInMarkdown(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ message, code string }{
		"one":                {"```markdown\n# A\n```bash\nls\n```\nend\n```\nafter", "# A\n```bash\nls\n```\nend"},
		"two":                {"```md\n```js\n1\n```\n```py\n2\n```\n```\nafter", "```js\n1\n```\n```py\n2\n```"},
		"tildes":             {"~~~markdown\n~~~sh\nls\n~~~\n~~~\nafter", "~~~sh\nls\n~~~"},
		"a longer one":       {"```md\n````sh\n```\n````\n```\nafter", "````sh\n```\n````"},
		"none":               {"```markdown\n# A\n```\nafter", "# A"},
		"another language":   {"```text\n```sh\nls\n```\nafter", "```sh\nls"},
		"no pair":            {"```markdown\n```sh\n```\nafter", "```sh"},
		"in a quotation":     {"> ```markdown\n> ```sh\n> ls\n> ```\n> ```\n\nafter", "```sh\nls\n```"},
		"in a list":          {"- ```markdown\n  ```sh\n  ls\n  ```\n  ```\n\nafter", "```sh\nls\n```"},
		"after another code": {"```go\n1\n```\n```md\n```sh\nls\n```\n```\nafter", "```sh\nls\n```"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := article(t, tt.message)
			plain := html.UnescapeString(regexp.MustCompile(`</?span[^>]*>`).ReplaceAllString(got, ""))
			if !strings.Contains(plain, ">"+tt.code+"</pre>") || !strings.Contains(got, "after</p>") {
				t.Errorf("got\n%s", got)
			}
		})
	}
}

// A long message that nests or repeats what opens something takes no time.
func TestLongMessages(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"> ", "- ", "[", "![", "*a ", "_", "$x_", "$$", `\[`, "`", "[^1]", "<", "| ", "**a *b ", "\n$$\n", "[a](", "1. ", "~~~\n", "[^a]: b\n", "(", "http://"} {
		begin := time.Now()
		write(t, "html", "", said(strings.Repeat(piece, 20_000/len(piece))))
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("%q took %v", piece, took)
		}
	}
	long := strings.Repeat("*a* ", 40_000)
	if got := write(t, "html", "", said(long), agent.UserInput{Text: "next"}); !strings.Contains(got, "*a* *a*") {
		t.Error("a message beyond the limit is not shown as it is written")
	}
}
