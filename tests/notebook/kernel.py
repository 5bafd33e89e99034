"""Run in an environment with ipykernel and our own needs alone: cells in, what they show out."""

import json
import sys


def shown(client, code):
    """What a cell shows, by MIME type; an error by its text."""
    found = []

    def keep(message):
        content = message["content"]
        match message["msg_type"]:
            case "execute_result" | "display_data":
                found.append(content["data"])
            case "error":
                found.append({"error": "\n".join(content["traceback"])})
            case "stream":
                found.append({content["name"]: content["text"]})

    client.execute_interactive(code, output_hook=keep, timeout=300)
    return found


def main():
    """Cells come as JSON on standard input; their outputs leave as JSON."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel()
    try:
        outputs = [shown(client, cell) for cell in json.load(sys.stdin)]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    json.dump(outputs, sys.stdout)


if __name__ == "__main__":
    main()
