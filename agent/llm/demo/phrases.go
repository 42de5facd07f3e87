package demo

import (
	"fmt"
	"strings"
)

// phrases are the texts of the script in one language.
type phrases struct {
	notATour       string
	welcome        string
	announcements  map[stop]string
	succeeded      map[stop]string
	empty          string // the folder is
	listed         string // with a count and some names
	feedback       string // with the user's words
	denied         string
	failed         string // with the first line of the error
	ending         string
	leftovers      string
	runDescription string
}

var english = &phrases{
	notATour: "This is Atelier's offline demo: a script, not a model, so it cannot work on that. " +
		"For real answers add a key under Settings → Keys, or set OPENAI_API_KEY and start Atelier again. " +
		"Say \"Show me around\" and the demo shows you the tools at work in this folder.",
	welcome: "Welcome to Atelier. This tour is a script, no model is answering, but the tools and the questions you are asked are real.",
	announcements: map[stop]string{
		stopList:    "First I list what is in this folder. Looking around needs no permission.",
		stopRead:    "Next I read `%s`. Click its line to see what I was given.",
		stopSearch:  "Now I search all files for `%s`.",
		stopWrite:   "Next I write a small script into a new folder, `atelier-tour`. This changes your disk, so Atelier may ask you first: you can allow it, or deny it and say why.",
		stopReread:  "The file may be there from an earlier tour. I read it, so that I know what I replace.",
		stopRewrite: "And now I write it again.",
		stopEdit:    "Now I change the greeting in it. Its line opens into the difference.",
		stopRun:     "Last I run the script. It counts to five, and you see its output as it appears. Stop ends it at any time.",
	},
	succeeded: map[stop]string{
		stopRead:    "That is the file as a model would see it.",
		stopSearch:  "The matches come with their places, which is how a model finds its way.",
		stopWrite:   "The file is written.",
		stopReread:  "It was there already.",
		stopRewrite: "The file is written.",
		stopEdit:    "The greeting is changed.",
		stopRun:     "The script ran to its end.",
	},
	empty:    "The folder is empty.",
	listed:   "Files found: %d, among them %s.",
	feedback: "You denied that and said: “%s”. A model would take this as its next instruction; the script goes on without that step.",
	denied:   "You denied that, so it did not happen. The script goes on without it.",
	failed:   "That did not work: %s. The script goes on without it.",
	ending: "That was the tour: listing, reading and searching, a change you were asked about, and a command with live output. " +
		"It was all a script, and no model answered. For real work add a key under Settings → Keys, or set OPENAI_API_KEY and start Atelier again.",
	leftovers:      " The folder `atelier-tour` can be deleted.",
	runDescription: "Run the tour's script",
}

var chinese = &phrases{
	notATour: "这是 Atelier 的离线演示：它是一段脚本，不是模型，所以无法处理这个请求。" +
		"要得到真正的回答，请在“设置 → 密钥”中添加密钥，或设置 OPENAI_API_KEY 后重新启动 Atelier。" +
		"输入“带我看看”，演示就会在这个文件夹里展示各个工具。",
	welcome: "欢迎使用 Atelier。这次导览是一段脚本，没有模型在回答；但工具是真的，向你提出的询问也是真的。",
	announcements: map[stop]string{
		stopList:    "首先列出这个文件夹里的内容。只是查看，不需要许可。",
		stopRead:    "接着读取 `%s`。点开这一行可以看到读到的内容。",
		stopSearch:  "现在在所有文件中搜索 `%s`。",
		stopWrite:   "接下来把一个小脚本写进新文件夹 `atelier-tour`。这会改动磁盘，所以 Atelier 可能会先问你：可以允许，也可以拒绝并说明原因。",
		stopReread:  "这个文件可能是上次导览留下的。先读一遍，弄清楚将要替换什么。",
		stopRewrite: "现在重新写入。",
		stopEdit:    "现在修改其中的问候语。展开这一行可以看到差异。",
		stopRun:     "最后运行这个脚本。它从一数到五，输出会即时显示。随时可以按“停止”。",
	},
	succeeded: map[stop]string{
		stopRead:    "模型看到的文件就是这个样子。",
		stopSearch:  "每个匹配都带有位置，模型就是这样找到方向的。",
		stopWrite:   "文件已写好。",
		stopReread:  "文件确实已经存在。",
		stopRewrite: "文件已写好。",
		stopEdit:    "问候语已修改。",
		stopRun:     "脚本已运行完毕。",
	},
	empty:    "这个文件夹是空的。",
	listed:   "这里有 %d 项，例如 %s。",
	feedback: "你拒绝了这一步，并说：“%s”。模型会把它当作下一条指令；脚本则跳过这一步继续。",
	denied:   "你拒绝了这一步，所以它没有发生。脚本跳过它继续。",
	failed:   "这一步没有成功：%s。脚本跳过它继续。",
	ending: "导览到此结束：你看到了列出、读取和搜索文件，一次需要你同意的改动，以及一条实时输出的命令。" +
		"这一切都是脚本，没有模型回答。要真正开始工作，请在“设置 → 密钥”中添加密钥，或设置 OPENAI_API_KEY 后重新启动 Atelier。",
	leftovers:      "文件夹 `atelier-tour` 可以删除。",
	runDescription: "运行导览脚本",
}

// closing ends the tour. It mentions the folder only if there is one.
func (p *phrases) closing(leftovers bool) string {
	if leftovers {
		return p.ending + p.leftovers
	}
	return p.ending
}

// announce announces a stop.
func (t *tour) announce(s stop) string {
	text := t.say.announcements[s]
	switch s {
	case stopRead:
		return fmt.Sprintf(text, t.file())
	case stopSearch:
		return fmt.Sprintf(text, t.word())
	default:
		return text
	}
}

// remark comments on the result of a stop.
func (t *tour) remark(s stop) string {
	o := t.seen[s]
	first, _, _ := strings.Cut(o.text, "\n")
	switch {
	case o.denied:
		if _, words, ok := strings.Cut(o.text, " said: "); ok {
			return fmt.Sprintf(t.say.feedback, strings.TrimSpace(words))
		}
		return t.say.denied
	case o.failed:
		return fmt.Sprintf(t.say.failed, strings.TrimRight(first, "."))
	case s == stopList:
		return t.listing()
	default:
		return t.say.succeeded[s]
	}
}

// listing names some of the folder's content.
func (t *tour) listing() string {
	entries := t.entries()
	if len(entries) == 0 {
		return t.say.empty
	}
	var names []string
	for _, e := range entries[:min(4, len(entries))] {
		names = append(names, "`"+e+"`")
	}
	return fmt.Sprintf(t.say.listed, len(entries), strings.Join(names, ", "))
}
