/** The Chinese translations of Go's sentences. Go has the English ones, with the same arguments. */
import type {
  DocumentProblemID,
  FailureID,
  PictureChangeID,
  ProblemID,
  Repair,
  WarningID,
} from '../types.gen'

export type Words = { message: string; kept?: string; next?: string }

/** Problems of the application. */
export const problems: Record<ProblemID, Words> = {
  internal: {
    message: 'Atelier 内部出错。',
    kept: '到目前为止显示的内容都已保存。',
    next: '请重试；如果再次发生，请重新启动 Atelier。',
  },
  method: { message: '方法 {0} 不存在。', kept: '没有做任何更改。' },
  arguments: { message: '{0} 的参数无效。', kept: '没有做任何更改。' },
  listen: {
    message: 'Atelier 无法监听 {0}。',
    next: '请用 --addr 选择其他端口，或用端口 0 自动选择空闲端口。',
  },
  link_invalid: { message: '这个链接不是网址，因此没有打开。' },
  link_here: { message: 'Atelier 在这里无法打开链接。', next: '请在你自己的浏览器中打开。' },
  folder_unusable: {
    message: '无法使用文件夹 {0}。',
    kept: '没有做任何更改。',
    next: '请指定一个存在且你有权读取的文件夹。',
  },
  folder_missing: {
    message: '文件夹 {0} 不存在。',
    kept: '没有做任何更改。',
    next: '请指定一个存在且你有权读取的文件夹。',
  },
  folder_unopened: {
    message: '无法打开文件夹 {0}。',
    kept: '没有做任何更改。',
    next: '请指定一个存在且你有权读取的文件夹。',
  },
  folder_unread: {
    message: '无法读取文件夹 {0}。',
    kept: '没有做任何更改。',
    next: '请指定一个存在且你有权读取的文件夹。',
  },
  folder_is_file: {
    message: '{0} 不是文件夹。',
    kept: '没有做任何更改。',
    next: '请指定一个存在且你有权读取的文件夹。',
  },
  project_path: {
    message: '{0} 不是完整的路径。',
    kept: '没有做任何更改。',
    next: '请以 / 开头，或用 ~ 表示你的主文件夹。',
  },
  project_here: { message: '{0} 就是这个窗口的项目。', kept: '没有做任何更改。' },
  project_served: {
    message: '{0} 已在浏览器模式中打开。',
    kept: '没有做任何更改。',
    next: '请在那个浏览器中继续，或停止那里的 atelier serve，再打开这个文件夹。',
  },
  project_unopened: {
    message: '无法打开 {0}。',
    kept: '没有做任何更改。',
    next: '请在终端里用这个文件夹运行 atelier，查看原因。',
  },
  pick_folder: {
    message: '无法显示系统的文件夹对话框。',
    kept: '没有做任何更改。',
    next: '请在终端里用这个文件夹运行 atelier。',
  },
  session_missing: { message: '会话 {0} 不存在。' },
  session_id: {
    message: '这不是会话的标识。',
    next: '标识最多 128 字节，不能含有斜杠、反斜杠、连续两个点或控制字符。',
  },
  session_ambiguous: {
    message: '有多个会话的标识以 {0} 开头。',
    next: '请输入更长的标识。',
  },
  session_deleted: {
    message: '这个会话已被删除。',
    kept: '没有做任何更改。',
    next: '请先恢复它，再继续。',
  },
  agent_marked: {
    message: '智能体不能单独加标签、置顶、归档或删除。',
    next: '请对启动它的会话进行操作。',
  },
  session_kept: {
    message: '只有已删除的会话才能永久移除。',
    kept: '没有做任何更改。',
    next: '请先删除它：atelier sessions delete。',
  },
  task_text: {
    message: '任务需要一个不超过 300 字节的标题，说明不超过 8000 字节。',
    kept: '任务板没有更改。',
    next: '请缩短文字。',
  },
  task_gone: {
    message: '任务板上已没有 {0}。',
    kept: '任务板没有更改。',
    next: '请重新查看任务板。',
  },
  task_final: {
    message: '{0} 已结束，状态不能再改。',
    kept: '任务板没有更改。',
    next: '请新建一个任务。',
  },
  task_taken: {
    message: '有智能体正在处理 {0}。',
    kept: '任务板没有更改。',
    next: '请先停止该智能体，或取消这个任务。',
  },
  task_cycle: {
    message: '这些任务会互相等待。',
    kept: '任务板没有更改。',
    next: '请换一个要等待的任务。',
  },
  board_full: {
    message: '任务板上的任务已达上限。',
    kept: '任务板没有更改。',
    next: '请删掉一些已结束的任务。',
  },
  tags_full: {
    message: '一个会话最多 20 个标签。',
    kept: '原来的标签没有更改。',
    next: '请删掉一些。',
  },
  session_unnamed: {
    message: '会话需要一个名称。',
    kept: '原来的名称没有更改。',
    next: '请输入名称。',
  },
  session_undeleted: {
    message: '这个会话或它启动的智能体正在工作，现在不能删除。',
    kept: '没有删除任何内容。',
    next: '请先停止它。',
  },
  session_working: {
    message: '这个会话已经在工作。',
    kept: '没有发送或更改任何内容，你写的文字仍在输入框中。',
    next: '请等它完成，或先停止它。',
  },
  session_closing: {
    message: '这个会话正在关闭。',
    kept: '没有发送或更改任何内容，你写的文字仍在输入框中。',
    next: '请重试。',
  },
  session_waits: {
    message: '这个会话正在等待你对一次调用做出决定。',
    kept: '没有做任何更改。',
    next: '请在窗口中或用 atelier serve 打开它，在那里决定。',
  },
  session_elsewhere: {
    message: '另一个 Atelier 正在运行会话 {0}。',
    kept: '没有做任何更改。',
    next: '请在那里使用它，或先在那里关闭它。',
  },
  session_foreign: {
    message: '这个会话属于文件夹 {0}。',
    kept: '没有做任何更改。',
    next: '请打开该文件夹以继续。',
  },
  session_none: {
    message: '这个文件夹没有可以继续的会话。',
    next: '请去掉 --continue 以新建会话。',
  },
  session_taken: { message: '已经有会话 {0}。', next: '请换一个标识。' },
  export_format: {
    message: '会话不能导出为“{0}”。',
    kept: '没有做任何更改。',
    next: '请选择 md、html、json、open-agent 或 comate。',
  },
  export_unsaved: {
    message: '无法把会话写入 {0}。',
    kept: '那里没有写入任何内容。',
    next: '请换一个位置。',
  },
  export_gone: {
    message: '这次导出已不再保留。',
    kept: '没有做任何更改。',
    next: '请重新导出会话。',
  },
  import_unread: {
    message: '{0} 无法作为会话记录读取。',
    kept: '没有导入任何内容。',
    next: '请检查文件是否完整。',
  },
  import_unknown: {
    message: '{0} 不是 Atelier 认识的会话记录。',
    kept: '没有导入任何内容。',
    next: '请选择 Claude Code、Codex、Open Agent SDK 或 Comate 的记录，或 Atelier 导出的 JSON。',
  },
  import_empty: {
    message: '{0} 里没有消息。',
    kept: '没有导入任何内容。',
    next: '请选择另一份记录。',
  },
  import_stopped: {
    message: '导入已停止。',
    kept: '没有导入任何内容。',
  },
  import_large: {
    message: '{0} 太大。',
    kept: '没有导入任何内容。',
    next: '请选择小于 1 GB、少于 50 万行的记录。',
  },
  import_newer: {
    message: '{0} 由更新版本的 Atelier 写成。',
    kept: '没有导入任何内容。',
    next: '请更新 Atelier。',
  },
  import_missing: {
    message: '没有文件 {0}。',
    kept: '没有导入任何内容。',
    next: '请选择另一份记录。',
  },
  share_full: {
    message: '正在分享的会话已达上限。',
    kept: '其他分享保持不变。',
    next: '请先结束其中一个。',
  },
  share_pattern: {
    message: '有一个模式不是正则表达式。',
    kept: '没有分享任何内容。',
    next: '请更正它。',
  },
  share_network: {
    message: '这台电脑不在任何网络中。',
    kept: '没有分享任何内容。',
    next: '请连接网络，或仅在本机分享。',
  },
  share_tunnel: {
    message: 'PATH 中既没有 cloudflared 也没有 ngrok。',
    kept: '没有分享任何内容。',
    next: '请安装其中之一，或在本机或局域网内分享。',
  },
  share_tunnel_failed: {
    message: '{0} 未能建立隧道。',
    kept: '没有分享任何内容。',
    next: '请查看它的输出，或在本机或局域网内分享。',
  },
  aside_question: {
    message: '附带问题须有 1 到 32,000 个字符。',
    kept: '会话保持原样。',
    next: '请缩短问题，或把它写入文件。',
  },
  aside_failed: {
    message: '附带问题没有得到回答。',
    kept: '会话保持原样。',
    next: '请查看详情，然后再问一次。',
  },
  fork_place: {
    message: '会话里没有这条消息。',
    kept: '没有创建分支。',
    next: '请选择另一条消息。',
  },
  fork_folder: {
    message: '分支不能在“{0}”里工作。',
    next: '请选择它自己的工作树、项目文件夹，或者都不选。',
  },
  fork_read_only: {
    message: '这里不允许任何更改，所以分支不能有工作树。',
    next: '请创建不带工作树的分支。',
  },
  worktree_unmade: {
    message: '无法创建工作树。',
    kept: '没有创建分支。',
    next: '请查看“详细信息”，或者创建不带工作树的分支。',
  },
  worktree_kept: {
    message: '无法读取或移除工作树。',
    kept: '没有移除任何内容。',
    next: '请查看“详细信息”，或者使用 git worktree list 和 git worktree remove。',
  },
  worktree_gone: {
    message: '这个会话的工作树 {0} 已经不存在。',
    kept: '没有做任何更改。',
    next: '请在项目文件夹里创建这个会话的分支来继续，或者用 git worktree add 恢复工作树。',
  },
  take_read_only: {
    message: '这里不允许任何更改，所以没有采用任何内容。',
    kept: '没有做任何更改。',
  },
  take_stale: {
    message: '{0} 在显示之后已经更改。',
    kept: '没有做任何更改。',
    next: '请重新查看。',
  },
  take_conflict: {
    message: '{0} 的同一处后来被更改过，或者无法写入。',
    kept: '没有做任何更改。',
    next: '请采用其他部分，或者直接编辑文件。',
  },
  merge_no_tree: {
    message: '这次运行没有可以合并到这里的工作树。',
    kept: '没有做任何更改。',
    next: '请查看详情，并重新比较。',
  },
  merge_stale: {
    message: '有文件在显示之后又被更改。',
    kept: '没有做任何更改。',
    next: '请重新查看这些文件。',
  },
  race_runs: {
    message: '竞赛需要两到四个运行。',
    kept: '没有启动任何运行。',
    next: '请增加或减少模型。',
  },
  stop_unreached: {
    message: '{0} 没有正在运行、能停止该会话的程序。',
    kept: '会话没有被停止。',
    next: '如果是命令行在处理它，请在那里停止。',
  },
  message_empty: { message: '消息是空的。', next: '请输入要让智能体做什么。' },
  command_empty: { message: '命令是空的。', next: '请在感叹号后面输入命令。' },
  turn_complete: {
    message: '这个回合已经完成。',
    kept: '没有做任何更改。',
    next: '请发送消息以继续。',
  },
  turn_unsaved: {
    message: '这个回合无法保存，因此已停止。',
    kept: '之前保存的内容仍在。',
    next: '请检查磁盘是否已满、Atelier 的文件夹是否可写，然后重试。',
  },
  nothing_to_compact: { message: '对话是空的，没有可以压缩的内容。', next: '请先发送一条消息。' },
  history_range: { message: '读取历史时，起点和终点只能指定一个。' },
  event_missing: { message: '这个会话中没有这个事件。' },
  answer_invalid: { message: '答复既不是允许，也不是拒绝。', kept: '请求仍在等待答复。' },
  approval_elsewhere: {
    message: '这个请求属于一个不在这里运行的会话。',
    kept: '它仍在等待答复。',
    next: '请在运行该会话的地方答复。',
  },
  server_question_gone: {
    message: '这个问题已不再等待。',
    kept: '它已经答复过，或所属的调用已经结束。',
  },
  server_answer: {
    message: '答复与表单不符。',
    kept: '问题仍在等待。',
    next: '请检查各项的值，然后重新提交。',
  },
  slash_unknown: {
    message: '没有命令 /{0}。',
    kept: '没有发送任何内容。',
    next: '要作为文字发送，请在斜杠前加一个空格。',
  },
  slash_mistyped: {
    message: '没有命令 /{0}。最接近的是 /{1}。',
    kept: '没有发送任何内容。',
    next: '请改正名称。要作为文字发送，请在斜杠前加一个空格。',
  },
  command_unknown: { message: '现在没有命令 /{0}。', next: '输入斜杠可以查看命令。' },
  command_argument: { message: '命令 /{0} 需要 {1} 的值。', next: '请补上后再发送。' },
  command_failed: {
    message: '服务器没有给出命令 /{0} 的文本。',
    kept: '什么都没有发送。',
    next: '请在面板中查看该服务器，然后重试。',
  },
  approval_answered: { message: '这个请求已经答复过了。', kept: '以第一次答复为准。' },
  message_delivered: {
    message: '这条消息已不在排队。',
    kept: '它已送达，或已在另一个窗口中移除。',
    next: '请另发一条。',
  },
  queue_verb: { message: '消息不能以“{0}”方式排队。', kept: '没有做任何更改。' },
  queue_empty: { message: '没有等待发送的消息。' },
  task_unknown: {
    message: '这条命令已没有记录：它已随会话结束，或早已结束。',
    kept: '智能体读到的输出仍在对话中。',
  },
  terminal_gone: {
    message: '这个终端已关闭。',
    kept: '没有做任何更改。',
    next: '请打开一个新的终端。',
  },
  terminal_many: {
    message: '最多可同时打开 {0} 个终端。',
    kept: '没有做任何更改。',
    next: '请关闭一个不用的终端。',
  },
  terminal_none: {
    message: 'Atelier 在此系统上还没有终端。',
    kept: '没有做任何更改。',
    next: '请使用系统自带的终端。',
  },
  terminal_failed: {
    message: '无法启动 shell {0}。',
    kept: '没有做任何更改。',
    next: '请检查变量 SHELL 和文件夹；详情中有系统给出的原因。',
  },
  terminal_deaf: {
    message: '这个终端里的程序没有读取输入的内容。',
    kept: '它可能已读取其中一部分。',
    next: '请等待，或在那里按 Ctrl+C。',
  },
  keys_unsaved: {
    message: '无法把快捷键保存到 {0}。',
    kept: '没有做任何更改。',
    next: '请修复或删除这个文件；详情中说明了它的问题。',
  },
  memo_empty: {
    message: '没有要记住的内容。',
    kept: '没有做任何更改。',
    next: '请写下智能体应当知道的事。',
  },
  memo_long: {
    message: '一条笔记最多 4,000 字节。',
    kept: '没有做任何更改。',
    next: '请缩短它，或自行写入文件。',
  },
  memo_failed: {
    message: '无法使用文件 {0}。',
    kept: '没有做任何更改。',
    next: '请检查它是否为可写的文本文件；详情中有系统给出的原因。',
  },
  attach_large: {
    message: '文件 {0} 超过 {1} MB。',
    kept: '你的消息没有改变。',
    next: '请把文件复制到项目中，然后用 @ 提及它。',
  },
  task_port: {
    message: '这条命令已不再监听端口 {0}。',
    kept: '没有做任何更改。',
    next: '请查看它的输出。',
  },
  model_unchosen: { message: '没有选择模型。', next: '请在工具栏选择一个。' },
  limit_negative: { message: '限制不能是负数。', kept: '设置没有更改。', next: '留空表示不限制。' },
  mode_unknown: { message: '“{0}”不是一种权限模式。' },
  command_timeout: {
    message: '命令的时间限制必须在 1 到 {0} 秒之间。',
    kept: '设置没有更改。',
    next: '留空则使用各模型自己的限制。',
  },
  patience: {
    message: '模型服务器可以静默 1 到 {0} 分钟。',
    kept: '设置没有更改。',
    next: '选择“自动”即使用默认值。',
  },
  agent_caps: { message: '智能体可以嵌套 1 到 {0} 层，最多 {1} 轮。', kept: '设置没有更改。' },
  compact_unknown: { message: '“{0}”不是有效的压缩设置。', kept: '设置没有更改。' },
  tool_unknown: { message: '没有可关闭的工具 {0}。', kept: '设置没有更改。' },
  font_size: { message: '字号必须在 {0} 到 {1} 像素之间。', kept: '设置没有更改。' },
  font_name: {
    message: '字体名称无效。',
    kept: '设置没有更改。',
    next: '请填写已安装字体的名称，只能包含文字、数字、空格和 - _ . + &。',
  },
  bypass_by_default: {
    message: '新会话不能一开始就允许一切操作。',
    kept: '设置没有更改。',
    next: '请在需要的会话中选择它，它在那里一直有效到 Atelier 退出。',
  },
  setting_damaged: {
    message: '已保存的设置“{0}”已损坏。',
    kept: '它没有被更改。',
    next: '请在“设置”中重新设置。',
  },
  home_unusable: {
    message: 'Atelier 无法在 {0} 中保存数据。',
    next: '请让该文件夹可写，或用 ATELIER_HOME 选择其他文件夹。',
  },
  store_unopened: {
    message: '无法打开数据库 {0}。',
    kept: '它没有被更改。',
    next: '请检查你是否有权读写它，以及磁盘是否已满。',
  },
  store_locked: {
    message: '另一个程序正在使用数据库 {0}。',
    kept: '没有做任何更改。',
    next: '请关闭该程序，然后重试。',
  },
  store_damaged: {
    message: '数据库 {0} 已损坏。',
    kept: '它没有被更改。',
    next: '请关闭 Atelier 并运行：atelier doctor --repair。它会先复制数据库，再保存所有可读的事件。',
  },
  store_newer: {
    message: '数据库 {0} 由更新版本的 Atelier 写入。',
    kept: '它没有被更改。',
    next: '请启动更新版本的 Atelier，或用 ATELIER_HOME 选择其他文件夹。',
  },
  store_read_only: {
    message: '数据库 {0} 由更新版本的 Atelier 写入，因此这里只能读取。',
    kept: '它没有被更改。',
    next: '请启动更新版本的 Atelier，或用 ATELIER_HOME 选择其他文件夹。',
  },
  store_repairing: {
    message: '数据库 {0} 正在修复。',
    kept: '没有做任何更改。',
    next: '修复完成后请重新启动 Atelier。',
  },
  store_in_use: {
    message: 'Atelier 正在运行并使用数据库 {0}。',
    kept: '数据库没有被更改。',
    next: '请关闭它的所有窗口和服务，然后再次修复。',
  },
  store_migration: {
    message: '数据库 {0} 无法更新到此版本的格式（步骤 {1}）。',
    kept: '一切保持原样。',
    next: '请使用写入它的 Atelier，并报告此问题。',
  },
  store_backup_room: {
    message: '更改数据库 {0} 之前要先复制一份，需要 {1} MB，但磁盘空间不足。',
    kept: '数据库没有被更改。',
    next: '请在该磁盘上腾出空间，然后重新启动。',
  },
  store_backup_failed: {
    message: '更改之前无法复制数据库 {0}。',
    kept: '数据库没有被更改。',
    next: '请运行 atelier doctor 检查它是否完好。',
  },
  store_partly: {
    message: '数据库 {0} 的一部分已损坏。',
    kept: '数据库没有被更改。',
    next: '请关闭 Atelier 并运行：atelier doctor --repair。它会先复制数据库，再保存所有可读的事件。',
  },
  sessions_hidden: {
    message: '存储了 {1} 个会话，可以显示 {2} 个；其余的已损坏。',
    kept: '数据库没有被更改。',
    next: '请关闭 Atelier 并运行：atelier doctor --repair。它会先复制数据库，再保存所有可读的事件。',
  },
  events_lost: {
    message: '{2} 个会话缺少 {1} 个曾经保存的事件：文件 {0}-wal 被删除或截断，或者磁盘丢失了它们。',
    kept: '其余内容都在。',
    next: '如果有该文件夹的备份，请恢复；否则无法补救。',
  },
  nothing_to_move: {
    message: '没有会话属于 {0}。',
    kept: '没有做任何更改。',
    next: '请给出该文件夹原来的路径。',
  },
  not_moved: { message: '刚才没有移入任何会话。', kept: '没有做任何更改。' },
  store_repair_empty: {
    message: '数据库 {0} 中已没有任何可读的内容。',
    kept: '它保持原样。',
    next: '请恢复备份；Atelier 所做的备份在它旁边的 backups 文件夹中。',
  },
  store_repair_failed: {
    message: '数据库 {0} 无法修复。',
    kept: '它保持原样。',
    next: '在尝试其他方法之前，请先复制它所在的文件夹。',
  },
  store_failed: {
    message: 'Atelier 无法读写 {0} 中的数据库。',
    kept: '之前保存的内容仍在。',
    next: '请检查磁盘是否已满、该处是否可写，然后重试。',
  },
  store_full: {
    message: '{0} 所在的磁盘已满，Atelier 无法保存。',
    kept: '之前保存的内容仍在。',
    next: '请腾出空间，然后重试。',
  },
  search_missing: {
    message: '此程序在构建时没有包含全文搜索。',
    kept: '没有做任何更改。',
    next: '请用 scripts/build.sh 构建，或使用标签 sqlite_fts5。',
  },
  search_failed: {
    message: 'Atelier 无法搜索会话。',
    kept: '没有做任何更改。',
    next: '请检查磁盘是否已满、{0} 是否可写；它只是索引，可以删除。',
  },
  event_unread: {
    message: 'Atelier 无法读取会话的一部分。',
    kept: '已保存的内容仍在。',
    next: '请检查你是否有权读取该文件，然后重试。',
  },
  provider_unknown: { message: '服务商“{0}”不存在。', next: '请在工具栏选择模型。' },
  address_missing: {
    message: '{0} 还没有地址。',
    kept: '你的消息仍在输入框中。',
    next: '请在“设置 → 密钥”中输入，或设置 {1}。',
  },
  address_damaged: {
    message: '{0} 已保存的地址在磁盘上已损坏，因此不会发送其密钥。',
    kept: '你的消息仍在输入框中。',
    next: '请在“设置 → 密钥”中重新输入密钥和地址。',
  },
  key_missing: {
    message: '{0} 还没有密钥。',
    kept: '你的消息仍在输入框中。',
    next: '请在“设置 → 密钥”中输入。',
  },
  key_missing_or_set: {
    message: '{0} 还没有密钥。',
    kept: '你的消息仍在输入框中。',
    next: '请在“设置 → 密钥”中输入，或设置 {1}。',
  },
  model_unlisted: {
    message: '{0} 的模型列表中没有 {1}。',
    next: '它也许仍能回答；如果不能，请选择其他模型。',
  },
  models_file: {
    message: '没有使用 {0} 中你自己的模型：{1}。',
    kept: 'Atelier 自带的模型不受影响。',
    next: '请改正该文件，然后重新启动 Atelier。',
  },
  key_unread: {
    message: '无法读取 {0} 的密钥。',
    kept: '密钥没有更改。',
    next: '请解锁密钥环，然后重试。',
  },
  key_unread_or_set: {
    message: '无法读取 {0} 的密钥。',
    kept: '密钥没有更改。',
    next: '请解锁密钥环，或设置 {1}。',
  },
  key_garbled: {
    message: '{0} 已保存的密钥内容无法解读。',
    kept: '密钥没有更改。',
    next: '请移除该端点，然后重新添加。',
  },
  key_unsaved: {
    message: '无法保存 {0} 的密钥。',
    kept: '原来的密钥和地址仍在。',
    next: '请解锁密钥环，然后重试。',
  },
  key_unsaved_or_set: {
    message: '无法保存 {0} 的密钥。',
    kept: '原来的密钥和地址仍在。',
    next: '请解锁密钥环，或设置 {1}。',
  },
  key_unremoved: {
    message: '无法移除 {0} 的密钥。',
    kept: '它仍在。',
    next: '请解锁密钥环，然后重试。',
  },
  key_of_other: {
    message: '{0} 的密钥是为另一个地址输入的，不会发送到这里。',
    kept: '没有做任何更改。',
    next: '请输入 {1} 的密钥，或先移除旧密钥。',
  },
  key_not_own: {
    message: '{0} 的密钥是为另一个地址输入的，不会发送到服务商自己的地址。',
    kept: '没有做任何更改。',
    next: '请输入服务商自己地址的密钥，或先移除旧密钥。',
  },
  key_of_environment: {
    message: '{0} 中的密钥不会发送到在这里设置的地址。',
    kept: '没有做任何更改。',
    next: '请输入此地址的密钥，或在设置 {0} 的同时设置 {1}。',
  },
  address_invalid: {
    message: '这不是 http 或 https 地址。',
    kept: '没有做任何更改。',
    next: '请输入形如 https://host/v1 的地址。',
  },
  address_password: {
    message: '地址中含有用户名或密码。',
    kept: '没有做任何更改。',
    next: '请输入不含它们的地址，并把机密信息作为密钥输入。',
  },
  address_query: {
    message: '地址中除主机和路径外还有其他内容，其中可能含有机密信息。',
    kept: '没有做任何更改。',
    next: '请只输入问号或井号之前的部分，并把机密信息作为密钥输入。',
  },
  endpoint_not_here: {
    message: '{0} 是你自己的端点。',
    kept: '没有做任何更改。',
    next: '请在“设置 → 密钥 → 自定义端点”中更改。',
  },
  endpoint_missing: {
    message: '这个端点已不存在。',
    kept: '没有做任何更改。',
    next: '请重新添加。',
  },
  external_unnamed: {
    message: '外部智能体需要一个名称，最多 {0} 个字符。',
    kept: '没有做任何更改。',
  },
  external_command: {
    message: '命令不是一个带参数的程序。',
    kept: '没有做任何更改。',
    next: '请像在终端中那样输入，例如 goose acp。',
  },
  external_env: {
    message: '“{0}”不是变量名。',
    kept: '没有做任何更改。',
    next: '请只输入名称，例如 ANTHROPIC_API_KEY。',
  },
  external_full: {
    message: '最多只能添加 {0} 个外部智能体。',
    kept: '没有做任何更改。',
    next: '请移除一个不需要的。',
  },
  external_gone: {
    message: '这个外部智能体已不存在。',
    kept: '没有做任何更改。',
    next: '请重新添加。',
  },
  external_failed: {
    message: '{0} 无法启动。',
    kept: '没有做任何更改。',
    next: '请查看详情。在终端中试运行它的命令，如果它要求登录，请先在那里登录。',
  },
  endpoints_full: {
    message: '已有 {0} 个端点，不能再添加。',
    kept: '没有做任何更改。',
    next: '请先移除一个。',
  },
  endpoint_unnamed: {
    message: '端点需要一个可以显示的名称。',
    kept: '没有做任何更改。',
    next: '请输入最多 {0} 个字符的名称。',
  },
  endpoint_unaddressed: {
    message: '端点需要一个地址。',
    kept: '没有做任何更改。',
    next: '请输入形如 https://host/v1 的地址。',
  },
  headers_full: {
    message: '一个端点最多有 {0} 个请求头。',
    kept: '没有做任何更改。',
    next: '请移除一些。',
  },
  header_reserved: {
    message: '“{0}”不能作为你的请求头。',
    kept: '没有做任何更改。',
    next: '请使用其他名称。',
  },
  header_twice: {
    message: '请求头 {0} 出现了两次。',
    kept: '没有做任何更改。',
    next: '请移除其中一个。',
  },
  header_value: {
    message: '请求头 {0} 的值太长或含有换行。',
    kept: '没有做任何更改。',
    next: '请重新输入。',
  },
  header_empty: {
    message: '请求头 {0} 需要一个值。',
    kept: '没有做任何更改。',
    next: '请输入它：已保存的值不会显示，也不会发送到其他地址。',
  },
  body_invalid: {
    message: '每次请求附带的字段不是 JSON 对象。',
    kept: '没有做任何更改。',
    next: '请按 {"top_k": 40} 的形式输入。',
  },
  body_reserved: {
    message: '请求的字段“{0}”由 Atelier 自己设置。',
    kept: '没有做任何更改。',
    next: '请移除它。',
  },
  changes_no_git: {
    message: '没有安装 git，或它不在 PATH 中。',
    next: '请安装 git；在此之前只显示会话的更改。',
  },
  changes_no_repository: {
    message: '这个文件夹不在 git 仓库中。',
    next: '请运行 git init 新建仓库；在此之前只显示会话的更改。',
  },
  changes_refused: {
    message: 'git 拒绝了操作。',
    kept: '没有做任何更改。',
    next: '请在“详细信息”中查看 git 的说明。',
  },
  changes_outside: { message: '{0} 在这个文件夹之外，或属于 git 自身。', kept: '没有做任何更改。' },
  changes_vanished: { message: '{0} 已不存在。', kept: '没有做任何更改。', next: '请刷新列表。' },
  changes_unreadable: {
    message: '无法读取 {0}。',
    kept: '没有做任何更改。',
    next: '请在“详细信息”中查看原因。',
  },
  changes_no_text: {
    message: '{0} 是二进制文件，因此不显示其内容。',
    kept: '没有做任何更改。',
    next: '请用适合此类文件的程序打开它。',
  },
  changes_too_large: {
    message: '{0} 太大，无法这样处理。',
    kept: '没有做任何更改。',
    next: '请在编辑器中打开它，或在终端中使用 git。',
  },
  changes_changed: {
    message: '{0} 在显示之后又有更改。',
    kept: '没有做任何更改。',
    next: '请重新查看更改，再做决定。',
  },
  changes_ambiguous: {
    message: '{0} 中有多处相同的行，无法确定是哪一处。',
    kept: '没有做任何更改。',
    next: '请手动编辑该文件。',
  },
  changes_occupied: {
    message: '{0} 已重新存在，因此没有用已删除的文件覆盖它。',
    kept: '没有做任何更改。',
    next: '请先将它移开。',
  },
  changes_not_text: {
    message: '{0} 中有不是 UTF-8 文本的行，因此这一部分无法原样还原。',
    kept: '没有做任何更改。',
    next: '请还原整个文件，或在终端中使用 git。',
  },
  changes_not_possible: {
    message: '{0} 的更改无法在这里还原。',
    kept: '没有做任何更改。',
    next: '请在终端中使用 git。',
  },
  changes_not_written: {
    message: '无法写入 {0}。',
    kept: '没有做任何更改。',
    next: '请在“详细信息”中查看原因。',
  },
  changes_read_only: {
    message: '这里不能做任何更改，因为 Atelier 以只读方式启动。',
    kept: '没有做任何更改。',
  },
  changes_hunk_invalid: { message: '这不是 {0} 的差异的一部分。', kept: '没有做任何更改。' },
  changes_base_unknown: {
    message: '分支 {0} 不存在。',
    kept: '没有做任何更改。',
    next: '请选择另一个基准分支。',
  },
  changes_base_unrelated: {
    message: '这个分支与 {0} 没有共同的提交。',
    kept: '没有做任何更改。',
    next: '请选择另一个基准分支。',
  },
  changes_filtered: {
    message: '{0} 由这个仓库的过滤程序处理，而 Atelier 不会运行它。',
    kept: '没有做任何更改。',
    next: '请在终端中使用 git。',
  },
  changes_in_progress: {
    message: '仓库正处于 {0} 过程中。',
    kept: '没有做任何更改。',
    next: '请先在终端中完成或中止它。',
  },
  changes_nothing_staged: {
    message: '没有可提交的内容：没有已暂存的文件。',
    kept: '没有做任何更改。',
    next: '请先更改或暂存一些文件。',
  },
  changes_staged_outside: {
    message: '这个文件夹之外也有已暂存的文件。',
    kept: '没有做任何更改。',
    next: '请选择要提交的文件，或在终端中提交。',
  },
  changes_conflicts: {
    message: '{0} 有尚未解决的冲突。',
    kept: '没有做任何更改。',
    next: '请先解决冲突并暂存该文件。',
  },
  changes_no_identity: {
    message: 'git 不知道提交时使用的姓名和邮箱。',
    kept: '没有做任何更改。',
    next: '请用 git config 设置 user.name 和 user.email。',
  },
  changes_no_message: {
    message: '提交需要一条不超过 {0} 个字符的说明。',
    kept: '没有做任何更改。',
    next: '请输入说明。',
  },
  changes_branch_invalid: {
    message: '“{0}”不能作为分支名。',
    kept: '没有做任何更改。',
    next: '请换一个名称。',
  },
  changes_branch_exists: {
    message: '分支 {0} 已存在。',
    kept: '没有做任何更改。',
    next: '请换一个名称。',
  },
  changes_locked: {
    message: '仓库已锁定：另一个 git 正在操作它，或曾被中断。',
    kept: '没有做任何更改。',
    next: '请等它完成，然后重试。如果没有 git 在运行，请删除“详细信息”中列出的锁文件。',
  },
  changes_slow: {
    message: '读取更改超过 {0} 秒，已停止。',
    kept: '没有做任何更改。',
    next: '请重试，或在终端中使用 git。',
  },
  changes_scope: { message: '“{0}”不是有效的更改范围，或需要一个会话。' },
  changes_unproposed: {
    message: '无法提议提交说明。',
    kept: '没有做任何更改。',
    next: '请自己写一条，或选择有对应小模型的模型。',
  },
  file_missing: { message: '此文件夹中没有文件 {0}。', kept: '没有做任何更改。' },
  editor_missing: {
    message: '没有找到图形编辑器。',
    next: '请在“设置”中填写一个，例如 code -g {0}。',
  },
  editor_invalid: {
    message: '编辑器命令无效。',
    kept: '没有做任何更改。',
    next: '请填写一个程序，并在其中包含 {0}。',
  },
  editor_absent: {
    message: '没有找到编辑器 {0}。',
    kept: '没有做任何更改。',
    next: '请在“设置”中填写已安装的程序，或它的完整路径。',
  },
  editor_nothing: { message: '项目中没有可打开的文件。', kept: '没有做任何更改。' },
  rule_empty: {
    message: '规则是空的。',
    kept: '规则没有改变。',
    next: '规则是工具的名称，或写成 Bash(git push *) 的形式。',
  },
  rule_long: {
    message: '规则 {0} 超过 {1} 字节。',
    kept: '规则没有改变。',
  },
  rule_hidden: {
    message: '规则 {0} 含有不可见的字符。',
    kept: '规则没有改变。',
    next: '请重新输入。',
  },
  rule_bracket: {
    message: '规则 {0} 的括号不成对。',
    kept: '规则没有改变。',
    next: '规则是工具的名称，或写成 Bash(git push *) 的形式。',
  },
  rule_tool: {
    message: '规则 {0} 不是以工具名称开头。',
    kept: '规则没有改变。',
    next: '规则是工具的名称，或写成 Bash(git push *) 的形式。',
  },
  rule_selector: {
    message: '规则 {0} 的括号是空的。',
    kept: '规则没有改变。',
    next: '去掉括号即表示该工具的所有调用。',
  },
  rule_tools: {
    message: '规则 {0} 涉及多个工具，因此不能带括号。',
    kept: '规则没有改变。',
    next: '请为每个工具各写一条规则。',
  },
  rule_parent: {
    message: '规则 {0} 的路径模式中含有“..”。',
    kept: '规则没有改变。',
    next: '请以 // 开头表示整台电脑，或以 ~/ 开头表示你的主文件夹。',
  },
  rule_pattern: {
    message: '规则 {0} 的路径模式以反斜杠结尾，或有未闭合的方括号。',
    kept: '规则没有改变。',
  },
  rule_stars: {
    message: '规则 {0} 的路径模式中“**”超过 {1} 处。',
    kept: '规则没有改变。',
  },
  rule_domain: {
    message: '规则 {0} 没有指明主机。',
    kept: '规则没有改变。',
    next: '请写成 WebFetch(domain:example.com) 或 Network(domain:example.com) 的形式。',
  },
  rule_form: {
    message: '{0} 不是规则，或其到期时间不是日期。',
    kept: '规则没有改变。',
    next: '规则是工具的名称，或写成 Bash(git push *) 的形式。',
  },
  rule_decision: {
    message: '规则只能是允许、询问或拒绝。',
    kept: '规则没有改变。',
  },
  rule_past: {
    message: '这条规则的到期时间已经过去。',
    kept: '规则没有改变。',
  },
  rule_scope: {
    message: '规则不能保存在那里。',
    kept: '规则没有改变。',
  },
  rule_missing: {
    message: '规则 {0} 已不存在。',
    kept: '规则没有改变。',
  },
  rule_other: {
    message: '规则 {0} 不适用于这次调用。',
    kept: '请求仍在等待答复。',
    next: '请换一条规则，或只答复这一次。',
  },
  rules_full: {
    message: '规则太多。',
    kept: '规则没有改变。',
    next: '请移除不再需要的规则。',
  },
  rules_file: {
    message: '{0} 从第 {1} 行起无法读取，因此其他规则未允许的命令都会先询问。',
    kept: '文件没有改变。',
    next: '请改正它。',
  },
  rules_file_unread: {
    message: '{0} 无法读取，因此其他规则未允许的命令都会先询问。',
    kept: '文件没有改变。',
    next: '请把它换成可以读取的普通文件。',
  },
  rules_changed: {
    message: '{0} 在显示之后已有改动。',
    kept: '没有接受任何内容。',
    next: '请重新查看其中的规则。',
  },
  rules_unwritten: {
    message: '无法把规则写入 {0}。',
    kept: '规则没有改变。',
    next: '请检查它是否为可写的 JSON 文件。',
  },
  link_outside: {
    message: '{0} 是指向 {1} 的链接，位于项目之外，因此不会读取也不会写入。',
    kept: '没有任何改变。',
    next: '请换成普通文件。只有主文件夹中你自己的设置可以链接到任何位置。',
  },
  link_nowhere: {
    message: '{0} 是指向 {1} 的链接，而 {1} 不存在。',
    kept: '没有任何改变。',
    next: '请创建该文件，或删除链接。',
  },
  skill_lines: {
    message: '技能 {0} 在发送前要运行的命令行超过 20 行。',
    kept: '没有运行任何命令，你的消息仍在输入框中。',
    next: '请让这个技能把其中一部分交给模型去运行。',
  },
  skill_line_denied: {
    message: '这个技能要运行一行不被允许的命令：{0}（{1}）',
    kept: '没有运行任何命令，你的消息仍在输入框中。',
    next: '请修改规则或权限模式，或自行运行该命令。',
  },
  undo_nothing: {
    message: '没有可撤销的内容：那里没有文件被更改，或已经撤销过。',
    kept: '没有更改任何文件。',
  },
  redo_nothing: {
    message: '没有可重做的内容：没有撤销过任何内容，或已经恢复过。',
    kept: '没有更改任何文件。',
  },
  undo_stale: {
    message: '有文件在显示之后又被更改了。',
    kept: '没有更改任何文件。',
    next: '请重新查看这些文件，然后再决定。',
  },
  context_item: {
    message: '该内容已不在上下文中，或者不能固定或移出。',
    kept: '上下文没有改变。',
    next: '请重新查看列表：它可能已被压缩替换。',
  },
  preview_budget: {
    message: '会话剩余的预算不够生成摘要。',
    kept: '对话没有改变。',
    next: '请提高预算，或改为移出部分内容。',
  },
  summary_invalid: {
    message: '摘要为空，或超过 48 KB。',
    kept: '对话没有改变。',
    next: '请写下模型继续工作所需的内容。',
  },
  compaction_gone: {
    message: '这次压缩已经撤销过了。',
    kept: '对话没有改变。',
  },
  undo_working: {
    message: '此会话或它启动的智能体正在工作。',
    kept: '没有撤销任何内容。',
    next: '请等它完成，或将其停止。',
  },
  undo_unsaved: {
    message: '无法保存撤销的记录。',
    kept: '文件的新旧内容都已保留。',
    next: '请检查磁盘是否已满，然后重新打开此会话。',
  },
  rewind_nothing: {
    message: '没有可以回到的这条消息。',
    kept: '对话没有更改。',
  },
  rewind_followed: {
    message: '对话已经继续，因此无法再恢复。',
    kept: '对话没有更改。',
    next: '其文字仍可查看和复制。',
  },
  trust_missing: {
    message: '它已不在项目的文件中。',
    kept: '没有做任何更改。',
    next: '请重新查看列表。',
  },
  trust_changed: {
    message: '{0} 在显示之后已有改动。',
    kept: '没有接受任何内容，它不会运行。',
    next: '请重新查看，然后再决定。',
  },
  trust_blocked: {
    message: '无法信任 {0}，因为它会运行的内容无法全部检查。',
    kept: '没有接受任何内容，它不会运行。',
    next: '请阅读旁边的说明。',
  },
  skill_missing: {
    message: '这个技能已不存在。',
    kept: '技能没有改动。',
    next: '请重新查看技能列表。',
  },
  skill_file: {
    message: '这个技能没有文件 {0}。',
    kept: '技能没有改动。',
    next: '请重新查看它的文件列表。',
  },
  skill_unread: {
    message: '无法读取 {0}。',
    kept: '技能没有改动。',
    next: '请让它成为你可以读取的文件。',
  },
  skill_off: {
    message: '技能 {0} 已关闭。',
    kept: '没有做任何更改。',
    next: '请在“技能”面板中打开它。',
  },
  skill_untrusted: {
    message: '技能 {0} 会运行这个项目的命令，在你信任它之前不会使用。',
    kept: '没有做任何更改。',
    next: '请查看它运行什么，然后决定。',
  },
  skill_changed: {
    message: '技能 {0} 在你信任之后有更改，在你再次信任之前不会使用。',
    kept: '没有做任何更改。',
    next: '请查看更改的内容，然后决定。',
  },
  skill_edited: {
    message: '{0} 在显示之后有更改。',
    kept: '它保持现在的样子。',
    next: '请重新查看，然后保存。',
  },
  skill_built_in: {
    message: '技能 {0} 是 Atelier 自带的，不能更改。',
    kept: '技能没有改动。',
    next: '请写一个同名的技能，它会取代自带的。',
  },
  skill_elsewhere: {
    message: '{0} 经由链接指向别处，因此不在这里更改。',
    kept: '技能没有改动。',
    next: '请更改链接所指的文件。',
  },
  skill_large: {
    message: '文本超过 {0} KB。',
    kept: '技能没有改动。',
    next: '请把细节移到单独的文件中。',
  },
  skill_name: {
    message: '“{0}”不能作为技能的名称。',
    kept: '技能没有改动。',
    next: '请使用最多 64 个字母、数字和 - _ .，并以字母或数字开头。',
  },
  skill_taken: {
    message: '{0} 已存在。',
    kept: '技能没有改动。',
    next: '请选择另一个名称。',
  },
  skill_scope: {
    message: '技能不能保存在那里。',
    kept: '技能没有改动。',
  },
  skill_unwritten: {
    message: '无法写入 {0}。',
    kept: '技能没有改动。',
    next: '请检查你是否可以在那里写入，以及磁盘是否已满。',
  },
  skill_untrashed: {
    message: '它已经不在回收站里。',
    kept: '技能没有改动。',
    next: '请重新查看已移除技能的列表。',
  },
  skill_back: {
    message: '{0} 已经存在。',
    kept: '技能没有改动。',
    next: '请先重命名或移除那里的内容，再恢复。',
  },
  skill_parcel_path: {
    message: '{0} 不是文件夹或压缩包（.zip、.skill、.tar.gz、.tgz）的路径。',
    kept: '没有安装任何内容。',
    next: '请输入它的完整路径。',
  },
  skill_parcel_unread: {
    message: '无法读取 {0}。',
    kept: '没有安装任何内容。',
    next: '请检查你是否可以读取它，以及它是否完整。',
  },
  skill_parcel_empty: {
    message: '{0} 中没有技能：其中没有 SKILL.md。',
    kept: '没有安装任何内容。',
  },
  skill_parcel_entry: {
    message: '{0} 中有不会安装的条目：{1}。',
    kept: '没有安装任何内容。',
    next: '请去掉它，然后重新选择文件夹或压缩包。',
  },
  skill_parcel_large: {
    message: '{0} 的内容太多：超过 {1} 个文件或 {2} MB，或远大于其大小所示。',
    kept: '没有安装任何内容。',
    next: '请选择内容较少的。',
  },
  skill_parcel_changed: {
    message: '{0} 在显示之后有更改。',
    kept: '没有安装任何内容。',
    next: '请重新查看，然后安装。',
  },
  hook_missing: {
    message: '该钩子已不在原处。',
    kept: '钩子没有改变。',
    next: '请重新查看钩子列表。',
  },
  hook_entry: { message: '钩子日志中已没有这条记录。', kept: '没有做任何更改。' },
  hook_draft: { message: '钩子按目前的写法无法运行。{0}', kept: '钩子没有改变。' },
  hook_scope: { message: '钩子不能保存在那里。', kept: '钩子没有改变。' },
  hooks_untrustable: {
    message: '并非所有钩子都能被信任，因为它们要运行的内容无法全部检查。',
    kept: '没有发送任何内容。',
    next: '请用 atelier hooks list 查看。不带 --trust-hooks 时，运行会略过它们。',
  },
  hook_input: { message: '钩子的输入不是带有其事件各成员的 JSON 对象。', kept: '没有做任何更改。' },
  hook_not_kept: {
    message: '日志没有保留该钩子收到的全部内容，因此无法用它重新运行。',
    kept: '没有做任何更改。',
  },
  hook_untrusted: {
    message: '在你信任钩子 {0} 之前，它不会运行。',
    kept: '没有做任何更改。',
    next: '请查看它的作用并作出决定。',
  },
  hook_unwritten: {
    message: '无法把钩子写入 {0}。',
    kept: '钩子没有改变。',
    next: '请检查它是否为可写的 JSON 文件。',
  },
  hooks_file: {
    message: '{0} 从第 {1} 行起无法读取，因此其中的钩子不会运行。',
    kept: '文件没有改变。',
    next: '请更正它。',
  },
  hooks_file_unread: {
    message: '{0} 无法读取，因此其中的钩子不会运行。',
    kept: '文件没有改变。',
    next: '请把它换成可以读取的普通文件。',
  },
  server_missing: {
    message: '没有名为 {0} 的服务器。',
    kept: '服务器没有改变。',
    next: '请重新查看服务器列表。',
  },
  server_draft: { message: '服务器按目前的写法无法连接。{0}', kept: '服务器没有改变。' },
  server_scope: { message: '服务器不能保存在那里。', kept: '服务器没有改变。' },
  server_taken: {
    message: '{0} 中已有服务器 {1}。',
    kept: '服务器没有改变。',
    next: '请换一个名称，或更改那个服务器。',
  },
  server_edited: {
    message: '{0} 中的 {1} 在显示之后已有改动。',
    kept: '服务器没有改变。',
    next: '请重新查看。',
  },
  server_unwritten: {
    message: '无法把服务器写入 {0}。',
    kept: '服务器没有改变。',
    next: '请检查它是否为可写的 JSON 文件。',
  },
  server_secret: {
    message: '无法保存 {0} 的密钥。',
    kept: '服务器没有改变。',
    next: '请解锁密钥环后重试。',
  },
  server_broken: { message: '{0} 按目前的写法无法连接。', next: '请阅读其中的问题并更正。' },
  server_untrusted: {
    message: '在你信任 {0} 之前，不会连接它。',
    next: '请查看它是什么并作出决定。',
  },
  server_changed: {
    message: '{0} 在你信任之后已有改动。',
    next: '请查看改动并作出决定。',
  },
  server_refused: { message: '你拒绝信任 {0}。' },
  server_shadowed: {
    message: '{1} 中也定义了 {0}，以那里的为准。',
    next: '请删除其中一个，或为它改名。',
  },
  server_off: { message: '{0} 已关闭。', next: '请打开它。' },
  server_tool: {
    message: '{0} 没有工具 {1}。',
    kept: '没有做任何更改。',
    next: '请重新查看它的工具。',
  },
  server_tool_changed: {
    message: '{0} 在你接受之后更改了工具 {1}。',
    next: '请查看改动并作出决定。',
  },
  server_tool_sealed: {
    message: '{0} 的工具 {1} 在显示之后又有改动。',
    kept: '没有接受任何内容。',
    next: '请重新查看，然后再决定。',
  },
  server_failed: { message: '{0} 未连接。', next: '请在“详细信息”中查看原因后重试。' },
  server_needs_auth: { message: '{0} 需要你授权 Atelier。', next: '请授权。' },
  server_config: { message: '{0} 按目前的配置无法连接：{1}。', next: '请更正。' },
  server_no_file: {
    message: '没有程序 {1}，因此 {0} 未连接。',
    next: '请安装该程序，或更正命令。命令只写一个程序，它的每个参数都写在 args 中。',
  },
  server_start: { message: '无法启动 {0} 的程序：{1}。' },
  server_exited: {
    message: '{0} 的程序已结束，退出码 {1}。',
    next: '请阅读它的输出，然后重新启动它。',
  },
  server_slow: { message: '{0} 在 {1} 内没有就绪。' },
  server_silent: { message: '{0} 没有应答。' },
  server_blocked: { message: '{0} 的程序不读取它的输入。' },
  server_garbage: { message: '{0} 发来的不是协议消息：{1}' },
  server_too_large: { message: '{0} 发来的内容超过 {1}。' },
  server_version: { message: '{0} 使用 Atelier 不认识的协议版本：{1}。' },
  server_unreached: { message: '无法连接到 {0}：{1}。', next: '请检查地址和网络。' },
  server_http: { message: '{0} 返回状态 {1}。' },
  server_redirect: { message: '{0} 重定向到 {1}，Atelier 不会跟随。' },
  server_gave_up: {
    message: '{0} 的程序结束次数过多，不再自动启动。它最近一次的结束情况：{1}。',
    next: '请阅读它的输出，然后重新启动它。',
  },
  server_protocol: { message: '{0} 违反了协议：{1}。' },
  server_error: { message: '{0} 返回错误：{1}' },
  server_timeout: { message: '{0} 在 {1} 内没有应答。' },
  server_closed: { message: '{0} 已断开。' },
  server_tool_unusable: {
    message: '无法向模型提供工具 {0}。',
    next: '请在“详细信息”中查看原因。',
  },
  server_authorise: {
    message: '无法授权 {0}。',
    kept: '没有做任何更改。',
    next: '请在“详细信息”中查看原因。',
  },
  server_auth_ended: { message: '你对 {0} 的授权已结束或被撤销。', next: '请重新授权。' },
  server_auth_refused: { message: '{0} 拒绝了为它签发的令牌。', next: '请重新授权。' },
  server_auth_scopes: {
    message: '{0} 要求的权限超出你的授权：{1}。',
    next: '如果同意，请重新授权。',
  },
  server_auth_denied: {
    message: '{0} 未获授权，因为你或其授权服务器拒绝了。',
    next: '如果想使用它，请重新授权。',
  },
  server_auth_expired: {
    message: '{0} 未获授权，因为十分钟内没有人从浏览器返回。',
    next: '请重新授权。',
  },
  server_auth_port: {
    message: '无法授权 {0}，因为浏览器返回时要用的端口 {1} 被另一个程序占用。',
    kept: '没有做任何更改。',
    next: '请结束那个程序，或在服务器的定义中更改端口。',
  },
  server_auth_client: {
    message: '无法授权 {0}，因为其授权服务器只认手动注册的客户端。',
    kept: '没有做任何更改。',
    next: '请在那里注册 Atelier，并把客户端的 ID 写进服务器的定义。',
  },
  server_auth_unattended: {
    message: '按照其定义，{0} 的授权不需要人参与。',
    kept: '没有做任何更改。',
    next: '请更正定义中的相应内容。',
  },
  server_tool_off: { message: '{0} 的工具 {1} 已关闭。', next: '请打开它。' },
  server_import: {
    message: '{0} 在显示之后已有改动。',
    kept: '服务器没有改变。',
    next: '请重新查看其中的服务器，然后再导入。',
  },
  server_import_other: { message: '不能从 {0} 导入服务器。', kept: '服务器没有改变。' },
  server_import_unread: {
    message: '无法读取 {0}。',
    kept: '文件没有改变。',
    next: '请在“详细信息”中查看原因。',
  },
  servers_file: {
    message: '{0} 从第 {1} 行起无法读取，因此其中的服务器不会连接。',
    kept: '文件没有改变。',
    next: '请更正它。',
  },
  servers_file_unread: {
    message: '{0} 无法读取，因此其中的服务器不会连接。',
    kept: '文件没有改变。',
    next: '请把它换成可以读取的普通文件。',
  },
  servers_file_empty: {
    message: '{0} 没有定义任何服务器。',
    kept: '文件没有更改。',
    next: '请指定一个在 mcpServers 下定义服务器的文件。',
  },
  servers_many: {
    message: '{0} 中的服务器超过 {1} 个，其余的未列出。',
    kept: '文件没有改变。',
  },
  editor_failed: {
    message: '无法启动 {0}。',
    kept: '没有做任何更改。',
    next: '请在“设置”中检查编辑器命令。',
  },
  editor_ended: {
    message: '{0} 刚启动就因错误退出。',
    kept: '没有做任何更改。',
    next: '请在“设置”中检查编辑器命令，或在终端中运行它，看看它的提示。',
  },
}

/** Failed requests to a provider. What was kept is always the same. */
export const failures: Record<FailureID, Omit<Words, 'kept'>> = {
  turn_failed: { message: '出错了：{0}。', next: '请重试。' },
  provider_auth: { message: '服务商不接受密钥。', next: '请在“设置 → 密钥”中检查密钥，然后重试。' },
  provider_permission: {
    message: '服务商不允许这次请求：{0}。',
    next: '请选择其他模型，或在“设置 → 密钥”中检查服务商。',
  },
  provider_not_found: {
    message: '服务商找不到所请求的内容：{0}。',
    next: '请选择其他模型，或在“设置 → 密钥”中检查服务商。',
  },
  provider_invalid: {
    message: '服务商拒绝了请求：{0}。',
    next: '请修改消息或选择其他模型，然后重试。',
  },
  provider_rate_limit: {
    message: '请求过于频繁，服务商暂时拒绝。',
    next: '请稍候重试，或选择其他模型。',
  },
  provider_rate_limit_wait: {
    message: '请求过于频繁，服务商暂时拒绝。',
    next: '服务商要求等待 {1}。请在此之后重试，或选择其他模型。',
  },
  provider_quota: {
    message: '你的账户额度已用完。',
    next: '请检查你在服务商处的套餐，或选择其他模型。',
  },
  provider_overloaded: { message: '服务商过载。', next: '请稍候重试，或选择其他模型。' },
  provider_overloaded_wait: {
    message: '服务商过载。',
    next: '服务商要求等待 {1}。请在此之后重试，或选择其他模型。',
  },
  provider_server: { message: '服务商出错：{0}。', next: '请稍候重试，或选择其他模型。' },
  provider_server_wait: {
    message: '服务商出错：{0}。',
    next: '服务商要求等待 {1}。请在此之后重试，或选择其他模型。',
  },
  provider_timeout: {
    message: '服务商没有及时响应。',
    next: '请检查网络连接和服务商的地址，然后重试。',
  },
  provider_network: {
    message: '无法连接到服务商：{0}。',
    next: '请检查网络连接和服务商的地址，然后重试。',
  },
  provider_truncated: {
    message: '回答在完成之前中断了。',
    next: '请检查网络连接和服务商的地址，然后重试。',
  },
  provider_content_filter: {
    message: '服务商的内容过滤拒绝了请求：{0}。',
    next: '请修改消息或选择其他模型，然后重试。',
  },
  provider_context_overflow: {
    message: '对话超出了模型的上下文窗口。',
    next: '请压缩对话、新建会话，或选择上下文窗口更大的模型。',
  },
  window_small: {
    message: '仅指令和工具就约占 {0} 个 token，而模型的上下文窗口只有 {1} 个。缩短对话也无济于事。',
    next: '请选择上下文窗口更大的模型。',
  },
  window_set: {
    message: '仅指令和工具就约占 {0} 个 token，而服务器只给了模型 {1} 个。缩短对话也无济于事。',
    next: '请调大后重新加载模型，然后重试：{2}。',
  },
  provider_abort: { message: '请求已停止。', next: '请重试。' },
  provider_config: {
    message: '服务商没有正确配置：{0}。',
    next: '请选择其他模型，或在“设置 → 密钥”中检查服务商。',
  },
  provider_unsupported: {
    message: '服务商或模型不支持所请求的功能：{0}。',
    next: '请选择其他模型，或在“设置 → 密钥”中检查服务商。',
  },
  provider_bad_object: {
    message: '模型的回答不符合要求的格式：{0}。',
    next: '请重试，或选择其他模型。',
  },
  provider_too_large: {
    message: '回答过大，已被停止。',
    next: '请一次少要一些内容，或选择其他模型。',
  },
  compaction_unavailable: { message: '这里没有可以生成摘要的模型。' },
  compaction_nothing: { message: '没有可以加入摘要的新内容。' },
  compaction_budget: { message: '生成摘要的费用会超出会话剩余的预算。' },
  answer_empty: {
    message: '{0} 连续两次给出了空回答。',
    next: '发送一条消息以继续，或选择其他模型。',
  },
  compaction_too_little: { message: '摘要腾不出足够的空间，因此没有请求摘要。' },
  compaction_summary_too_long: { message: '摘要太长，腾不出足够的空间。' },
}
export const failureKept = '到这里为止的内容都已保存。'

export const warnings: Record<WarningID, string> = {
  context_full: '对话已占 {1} 上下文窗口的 {0}%。新建会话或缩小任务范围可以腾出空间。',
  context_compacts: '对话已占 {1} 上下文窗口的 {0}%。在过长之前会自动压缩。',
  context_overflow: '对话超出了 {0} 的上下文窗口。Atelier 会尝试压缩后重新发送。',
  window_small:
    '仅指令和工具就约占 {0} 个 token，而 {2} 的上下文窗口只有 {1} 个。请选择上下文窗口更大的模型。',
  window_set:
    '仅指令和工具就约占 {0} 个 token，而服务器只给了 {2} {1} 个。请调大后重新加载模型：{3}。',
  prompt_cut:
    '请求约有 {2} 个 token，{0} 的服务器只计了 {1} 个。它似乎悄悄截掉了开头，因此模型看不到完整的对话。请调大上下文：{3}。',
  compaction_ends: '压缩已连续失败 {0} 次。在你要求之前不会再尝试。',
  compaction_vetoed: '有钩子阻止了对话压缩。{0}',
  hooks_overruled: '钩子已让这个回合继续了 {0} 次，现在仍会结束。',
  hook_stopped: '有钩子结束了这个回合。{0}',
  prompt_refused: '有钩子拒绝了这条消息，因此没有发送给模型。{0}',
  prompt_undecided:
    '这个回合在钩子确定放行这条消息之前就结束了，因此没有告诉模型。如仍需要，请重新发送。',
  answer_length: '回答达到了模型的长度限制，因此中断。请让它继续，以得到其余部分。',
  answer_paused: '服务商已暂停回答 {0} 次，仍未完成。请让它继续，以得到其余部分。',
  answer_filtered: '服务商的内容过滤结束了回答。{0}',
  answer_refused: '模型拒绝继续回答。{0}',
  answer_ended: '服务商结束了回答，Atelier 不认识其原因：{0}。回答可能不完整。',
  call_written: '模型把对 {0} 的调用写成了文字。现按调用执行。',
  call_in_text: '模型把调用写成了文字，没有任何东西被执行。已提醒它一次，请它真正调用工具。',
  fallback: '{0} 没有响应：{1}。这次请求改由 {2} 完成。',
  budget: '本会话的预算为 {1}，已花费 {0}。',
  cost_unknown: '{0} 的费用未知，因此 {1} 的预算无法限制它。',
  calls: '模型在一次回答中调用了 {0} 次工具。只运行前 {1} 次，其余的已忽略。',
  damaged_event:
    '本会话的第 {0} 个事件在磁盘上已损坏或缺失，无法显示。会话的其余内容都在，没有做任何更改。如需找回，请恢复 Atelier 数据的备份。',
  damaged_events:
    '本会话有 {0} 个事件（第 {1} 到第 {2} 个）在磁盘上已损坏或缺失，无法显示。会话的其余内容都在，没有做任何更改。如需找回，请恢复 Atelier 数据的备份。',
  newer_event: '本会话的第 {0} 个事件由更新版本的 Atelier 写入，那个版本可以显示它。',
  company:
    '另一个会话同时在 {0} 中工作。双方的命令可能互相覆盖对方的改动；分叉到单独的工作树可以避免。',
  same_file: '其他会话或智能体正在修改同样的文件：{0}。已提醒模型在写入前重新读取。',
  permission_mode_reset: '在 Atelier 退出之前，本会话允许一切操作。现在恢复为先询问。',
}

export const repairs: Record<Repair, string> = {
  native: '服务商拒绝了这段对话：{0}。重新发送时去掉了它对之前回答的附注，对话内容没有改变。',
  calls: '服务商拒绝了这段对话：{0}。重新发送时把格式有误的工具调用改为文本，其余内容没有改变。',
  elided:
    '对话超出了 {0} 的上下文窗口。从这里起，最早的工具输出以缩短的形式发送；会话中仍保留全文。',
  pictures: '图片以其他形式发送给 {0}：{1}。',
  cut: '对话超出了 {0} 的上下文窗口。从现在起，其中最长的文字（包括你自己的）只发送开头和结尾；会话中仍完整保留。',
  attachments:
    '服务商拒绝了对话：{0}。从现在起，其中 {1} 个图片或附件以一行文字代替发送；会话中仍完整保留。',
  items:
    '服务商拒绝了对话：{0}。从现在起，发送时不再包含看来是原因的消息或结果；会话中仍完整保留。',
  foreign: '由 {0} 接替 {1}。它会收到全部对话和操作，但不包括另一个模型的思考。',
}

/** What changed about a picture, as a phrase after its name. */
export const pictureChanges: Record<PictureChangeID, string> = {
  unseen: '未发送，因为这个模型不接受图片',
  other_type: '未发送，因为它不是 PNG、JPEG、GIF 或 WebP 图片',
  broken: '未发送，因为它已损坏',
  too_large: '未发送，因为它太大，无法缩小',
  smaller: '已缩小',
  typed: '按 {0} 发送，而不是 {1}',
}

/** Why a document was left out, as a phrase after its path. */
export const documentProblems: Record<DocumentProblemID, string> = {
  unopened: '无法打开，或指向项目之外',
  irregular: '不是普通文件',
  unread: '无法读取：{0}',
  binary: '不是文本',
  foreign: '属于其他用户',
  missing: '被其他文档导入，但不存在',
  secret: '通常包含机密，不会被导入',
  imports: '导入层级超过五层，或已导入一百个其他文件',
}
