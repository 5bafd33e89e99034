"""What a curator does from the page, beyond people and keys.

schemas       edit the public facts about a table
registering   serve another table
risk          a private report on what is at stake in a table
principles    fair information, as a checklist
"""
