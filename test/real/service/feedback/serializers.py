from rest_framework.serializers import (
    CharField,
    EmailField,
    IntegerField,
    ModelSerializer,
    SlugRelatedField,
)

from feedback.models import Board, Comment, Post, Status, User


class UserSerializer(ModelSerializer):
    class Meta:
        model = User
        exclude = ["password", "last_login"]


class BoardSerializer(ModelSerializer):
    class Meta:
        model = Board
        fields = ["id", "name", "url"]


class StatusSerializer(ModelSerializer):
    class Meta:
        model = Status
        fields = "__all__"


class PostSerializer(ModelSerializer):
    board = BoardSerializer()
    status = StatusSerializer()
    creator = UserSerializer()
    comments_count = IntegerField()

    class Meta:
        model = Post
        fields = [
            *["id", "title", "content", "url", "creator", "board", "status"],
            *["votes_count", "created", "comments_count"],
        ]


class CommentedPostSerializer(ModelSerializer):
    class Meta:
        model = Post
        fields = ["id", "title", "url"]


class CommentSerializer(ModelSerializer):
    post = CommentedPostSerializer()
    creator = UserSerializer()
    status = StatusSerializer()

    class Meta:
        model = Comment
        fields = "__all__"


class OwnPostSerializer(ModelSerializer):
    board = SlugRelatedField("slug", queryset=Board.objects.all())

    class Meta:
        model = Post
        fields = ["board", "title", "content"]


class CustomerPostSerializer(OwnPostSerializer):
    email = EmailField()
    full_name = CharField(max_length=150)

    class Meta(OwnPostSerializer.Meta):
        fields = [*OwnPostSerializer.Meta.fields, "email", "full_name"]
