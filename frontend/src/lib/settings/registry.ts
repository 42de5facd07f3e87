/** What Settings has, by tab. A panel and its settings take one entry here; the search finds them by it. */
import { t } from '../i18n/i18n.svelte'
import type { Workbench } from '../state/workbench.svelte'
import { own } from './messages'
import { tiers } from './tiers'

export type SettingsTab =
  'keys' | 'models' | 'tools' | 'commands' | 'appearance' | 'editor' | 'shortcuts' | 'about'

export type Setting = {
  /** The id of its row, which a Setting component has around it. */
  id: string
  label: string
  hint?: string
  /** Other words for it, in every language. They are searched, but not shown. */
  words: string
}

type Tab = {
  value: SettingsTab
  label: () => string
  settings: (bench: Workbench) => Setting[]
}

/** What people look for, by tier. */
const toolWords = {
  core: 'tool switch Read Write Edit Bash Grep Glob WebFetch WebSearch AskUser 工具 开关 读取 写入 编辑 命令 搜索',
  advanced:
    'tool switch Agent Skill Task Team NotebookEdit Monitor Recall 工具 开关 智能体 技能 任务 团队 笔记本',
  specialist:
    'tool switch Cron LSP TodoWrite plan worktree 工具 开关 定时 计划 工作树 任务列表 代码',
}

export const tabs: readonly Tab[] = [
  {
    value: 'keys',
    label: () => t('settings.keys'),
    settings: ({ catalog }) => [
      ...(catalog.keys.keys ?? []).map(({ provider, name }) => ({
        id: keyRow(provider),
        label: name,
        hint: own('search_key'),
        words: `${provider} api key token password provider login address url 密钥 密码 服务商 令牌 地址`,
      })),
      {
        id: 'endpoints',
        label: t('endpoints.title'),
        hint: t('endpoints.intro'),
        words:
          'endpoint server address url proxy gateway compatible custom 端点 服务器 代理 网关 兼容',
      },
      {
        id: 'external',
        label: own('external'),
        hint: own('external_hint'),
        words:
          'external agent acp claude code codex gemini goose opencode program 外部 智能体 程序 命令',
      },
      {
        id: 'websearch',
        label: own('websearch'),
        hint: own('websearch_hint'),
        words: 'search internet searxng brave tavily exa google 搜索 联网 互联网 网络',
      },
    ],
  },
  {
    value: 'models',
    label: () => t('settings.models'),
    settings: () => [
      ...(['low', 'mid', 'high'] as const).map((level) => ({
        id: level,
        label: t(`models.${level}`),
        hint: t(`models.${level}_hint`),
        words: 'model level small large default agent 模型 级别 默认 智能体',
      })),
      {
        id: 'listings',
        label: t('models.listed'),
        hint: t('models.listed_hint'),
        words: 'list refresh update catalogue price window 列表 刷新 更新 价格',
      },
      {
        id: 'compact',
        label: t('models.compact'),
        hint: t('models.compact_hint'),
        words: 'compaction context summary length memory tokens 压缩 上下文 摘要 长度',
      },
      {
        id: 'room',
        label: own('room_preset'),
        hint: own('room_preset_hint'),
        words:
          'context rules compaction offload budget tokens summary small model 规则 上下文 预算 摘要 卸载 压缩',
      },
      {
        id: 'shorten',
        label: own('shorten'),
        hint: own('shorten_hint'),
        words: 'long result tool output micro compaction cut truncate cost 长 结果 缩短 截断 压缩',
      },
      {
        id: 'patience',
        label: own('patience'),
        hint: own('patience_hint'),
        words: 'timeout silence local ollama llama.cpp lm studio slow idle 超时 静默 本地 等待 慢',
      },
      {
        id: 'agents',
        label: own('agents'),
        hint: own('agents_hint'),
        words: 'agents subagents depth levels rounds tokens limit tree 智能体 层 轮 限制',
      },
      {
        id: 'titles',
        label: t('models.titles'),
        hint: t('models.titles_hint'),
        words: 'title rename 标题 名称 命名',
      },
      {
        id: 'suggestions',
        label: t('models.suggestions'),
        hint: t('models.suggestions_hint'),
        words: 'suggestion prompt autocomplete 建议 提示 补全',
      },
      {
        id: 'long_cache',
        label: t('models.long_cache'),
        hint: t('models.long_cache_hint'),
        words: 'caching price cost anthropic claude 缓存 价格 费用',
      },
      {
        id: 'budget',
        label: t('budget.new_sessions'),
        words: 'budget price cost money spending limit dollar usd 预算 价格 费用 花费 上限 美元',
      },
      {
        id: 'timeout',
        label: t('timeout.label'),
        hint: t('timeout.hint'),
        words: 'time limit seconds bash shell duration 超时 时间 限制 秒 命令',
      },
    ],
  },
  {
    value: 'tools',
    label: () => own('tools_tab'),
    settings: () =>
      tiers.map((tier) => ({
        id: `tools_${tier}`,
        label: own(`tools_${tier}`),
        hint: own(`tools_${tier}_hint`),
        words: toolWords[tier],
      })),
  },
  {
    value: 'commands',
    label: () => own('commands_tab'),
    settings: () => [
      {
        id: 'confine',
        label: own('confine'),
        hint: own('confine_hint'),
        words:
          'sandbox confinement namespaces landlock isolation network security bash shell 沙箱 沙盒 限制 隔离 网络 安全 命令',
      },
      {
        id: 'confine_free',
        label: own('confine_free'),
        hint: own('confine_free_hint'),
        words: 'sandbox auto allow approve ask permission 沙箱 自动 允许 询问 权限',
      },
      {
        id: 'confine_outside',
        label: own('confine_outside'),
        hint: own('confine_outside_hint'),
        words: 'sandbox unconfined escape disable unsandboxed 沙箱 外部 不受限制',
      },
      {
        id: 'confine_caches',
        label: own('confine_caches'),
        words: 'cache disk space size delete clear npm go pip gradle 缓存 磁盘 空间 大小 删除 清除',
      },
      {
        id: 'language_servers',
        label: own('language_servers'),
        hint: own('language_servers_hint'),
        words:
          'lsp gopls pyright rust-analyzer clangd typescript symbols definition diagnostics code 语言服务器 符号 定义 诊断 代码',
      },
    ],
  },
  {
    value: 'appearance',
    label: () => t('settings.appearance'),
    settings: () => [
      {
        id: 'theme',
        label: t('appearance.theme'),
        words: 'theme dark light night day colour color mode system 主题 深色 浅色 暗色 夜间 颜色',
      },
      {
        id: 'contrast',
        label: own('contrast'),
        hint: own('contrast_hint'),
        words: 'accessibility readable vision 对比度 无障碍 可读',
      },
      {
        id: 'language',
        label: t('appearance.language'),
        words: 'language english chinese translation locale 语言 英语 英文 中文 简体 翻译',
      },
      {
        id: 'density',
        label: t('appearance.density'),
        words: 'density verbose summary fold compact detail conversation 密度 详细 摘要 折叠 对话',
      },
      ...(['interface', 'code'] as const).map((of) => ({
        id: `font_${of}`,
        label: own(`font_${of}`),
        hint: own(`font_${of}_hint`),
        words:
          'font size typeface text family monospace larger smaller zoom 字体 字号 大小 等宽 放大',
      })),
      {
        id: 'notices',
        label: own('notices_on'),
        hint: own('notices_hint'),
        words: 'notification alert sound mute done failed desktop 通知 提醒 静音 完成 失败',
      },
    ],
  },
  {
    value: 'editor',
    label: () => own('editor_tab'),
    settings: () => [
      {
        id: 'editor',
        label: own('editor'),
        hint: own('editor_hint'),
        words: 'open file ide command program vscode vim emacs external 编辑器 打开 文件 命令 程序',
      },
    ],
  },
  {
    value: 'shortcuts',
    label: () => t('about.shortcuts'),
    settings: () => [
      {
        id: 'shortcuts',
        label: t('about.shortcuts'),
        words: 'keyboard keys shortcut help hotkey 键盘 快捷键 按键 帮助',
      },
    ],
  },
  {
    value: 'about',
    label: () => t('settings.about'),
    settings: ({ project }) => [
      {
        id: 'version',
        label: t('about.version', { version: project?.version ?? '' }),
        words: 'version release update 版本 更新',
      },
      {
        id: 'folders',
        label: t('about.home'),
        hint: project?.home,
        words: 'folder data logs database project path 文件夹 数据 日志 项目 路径',
      },
      {
        id: 'guide',
        label: own('guide'),
        words: 'guide tour help start onboarding introduction 入门 向导 帮助 开始 教程',
      },
      {
        id: 'hosts',
        label: own('hosts'),
        hint: own('hosts_hint'),
        words:
          'host network privacy outgoing offline telemetry domain address 主机 联网 隐私 离线 地址',
      },
      {
        id: 'diagrams',
        label: own('diagrams'),
        hint: own('diagrams_hint'),
        words: 'diagram mermaid chart graph drawing flowchart help 图表 流程图 画图 帮助',
      },
      {
        id: 'hooks',
        label: own('hooks'),
        hint: own('hooks_hint'),
        words: 'hook trust script event PreToolUse settings.json help 钩子 信任 脚本 事件 帮助',
      },
      {
        id: 'skills',
        label: own('skills'),
        hint: own('skills_hint'),
        words: 'skill command slash SKILL.md alias template help 技能 命令 斜杠 别名 模板 帮助',
      },
      {
        id: 'servers',
        label: own('servers'),
        hint: own('servers_hint'),
        words:
          'mcp model context protocol server tool prompt slash command oauth token help 服务器 工具 提示 斜杠 命令 授权 帮助',
      },
    ],
  },
]

/** The id of the row of a provider's key. */
export const keyRow = (provider: string) => `key_${provider}`
